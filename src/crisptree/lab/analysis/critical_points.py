"""Every critical point, Δφ = 0, in a range: where it is, of what kind, and whether it attracts.

The search looks at signs of the balance Δφ / Σ|terms|, which keeps its size where Δφ itself is
exponentially small. Three things could hide a zero, and each has an answer:

- a jump where φ crosses a state: the grid holds both sides of every integer;
- two zeros between neighbouring grid points: wherever the balance dips towards zero without
  crossing it, the grid is refined there, again and again;
- a stretch where all terms are below the smallest float: a change of sign across it is reported
  as a plateau.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from jaxtyping import Float, Int

from crisptree.lab.analysis.chain_setting import Setting
from crisptree.lab.analysis.update_rule import UpdateRule

Kind = Literal["smooth", "jump", "plateau"]

WIDTH = 1e-12
"""Bisection goes on until a bracket is this narrow."""
DIP = 0.5
"""A dip is searched where the parabola through three neighbours loses this share of its height."""
LEVELS = 5
"""How often a dip is looked at more closely."""
FINER = 8
"""Into how many a cell of the grid is divided, each time."""


@dataclass(frozen=True)
class Zero:
    """A critical point of φ."""

    phi: float
    """Its place; for a jump, the last float before it."""
    kind: Kind
    """`smooth`: Δφ passes through 0. `jump`: it changes sign without. `plateau`: it underflows."""
    attracts: bool
    """Whether Δφ pushes φ towards it from both sides."""


def phi_grid(setting: Setting, low: float, high: float) -> Float[np.ndarray, " P"]:
    """Points from `low` to `high`, close enough for the steepness, on both sides of each integer.

    At φ = s the tree says s > φ is FALSE, so the integer itself belongs to the right-hand side.
    """
    spacing = min(0.02, 1 / (5 * setting.alpha))
    edges = [low, *np.arange(np.floor(low) + 1, np.ceil(high)), high]
    pieces = []
    for left, right in pairwise(edges):
        count = max(2, int(np.ceil((right - left) / spacing)) + 1)
        piece = np.linspace(left, right, count)
        piece[-1] = np.nextafter(right, left)
        pieces.append(piece)
    return np.concatenate(pieces)


def find_zeros(
    rule: UpdateRule, phi: Float[np.ndarray, " P"], balance: Float[np.ndarray, " P"]
) -> tuple[Zero, ...]:
    """All zeros of `rule` between the first and last point of a grid, in order.

    `balance` is the rule's balance on the grid `phi`. A touch of zero without a change of sign is
    no zero: φ is pushed through it.
    """
    # Three zeros may sit where the signs show one, so those cells are looked at once more. (Three
    # within an eighth of a cell, 1/(40 α), would still pass for one.)
    phi, balance = _refined(rule, phi, balance, _crossings(phi, balance))
    for _ in range(LEVELS):
        phi, balance = _refined(rule, phi, balance, _dips(phi, balance))
    low, high, plateau = _brackets(phi, balance)
    zeros = [_zero((a + b) / 2, "plateau", s) for a, b, s in zip(*plateau, strict=True)]
    return tuple(sorted(zeros + _bisect(rule, low, high), key=lambda zero: zero.phi))


def _zero(phi: float, kind: Kind, left_sign: float) -> Zero:
    return Zero(float(phi), kind, bool(left_sign > 0))


def _refined(
    rule: UpdateRule,
    phi: Float[np.ndarray, " P"],
    balance: Float[np.ndarray, " P"],
    cells: Int[np.ndarray, " C"],
) -> tuple[Float[np.ndarray, " Q"], Float[np.ndarray, " Q"]]:
    """The grid with more points in the given cells; cell i reaches from point i to the next."""
    if len(cells) == 0:
        return phi, balance
    between = np.linspace(phi[cells], phi[cells + 1], FINER + 1, axis=1)[:, 1:-1].ravel()
    phi = np.concatenate([phi, between])
    balance = np.concatenate([balance, rule(between).balance])
    order = np.argsort(phi)
    return phi[order], balance[order]


def _crossings(
    phi: Float[np.ndarray, " P"], balance: Float[np.ndarray, " P"]
) -> Int[np.ndarray, " C"]:
    """Cells at whose ends the signs differ, those of no width left out."""
    return np.flatnonzero((balance[:-1] * balance[1:] < 0) & (np.diff(phi) > WIDTH))


def _dips(phi: Float[np.ndarray, " P"], balance: Float[np.ndarray, " P"]) -> Int[np.ndarray, " C"]:
    """Cells in which, by the parabola through three points of one sign, two zeros may hide."""
    a, b, c = balance[:-2], balance[1:-1], balance[2:]
    width = np.diff(phi)
    before, after = width[:-1], width[1:]
    # A triple across a state is no smooth piece, and a cell of no width has no parabola.
    wide = (before > WIDTH) & (after > WIDTH)
    before, after = np.where(wide, before, 1.0), np.where(wide, after, 1.0)
    rise, fall = (b - a) / before, (c - b) / after
    tilt = (rise * after + fall * before) / (before + after)
    bend = 2 * (fall - rise) / (before + after)
    curved = wide & (bend * (a + b + c) > 0)
    bend = np.where(curved, bend, 1.0)
    lowest, depth = -tilt / bend, np.abs(tilt**2 / (2 * bend))
    reaches = (lowest >= -before) & (lowest <= after) & (depth >= DIP * np.abs(b))
    alike = (a * b >= 0) & (b * c >= 0) & (a * c >= 0)
    found = np.flatnonzero(curved & reaches & alike)
    return np.union1d(found, found + 1)


def _brackets(phi: Float[np.ndarray, " P"], balance: Float[np.ndarray, " P"]):
    """Neighbouring points of opposite sign; apart from them, those with a plateau between."""
    known = np.flatnonzero(np.nan_to_num(balance) != 0)
    flat = np.concatenate([[0], np.cumsum(np.isnan(balance))])
    left, right = known[:-1], known[1:]
    changes = np.sign(balance[left]) != np.sign(balance[right])
    left, right = left[changes], right[changes]
    level = flat[right] > flat[left + 1]
    plateau = (phi[left][level], phi[right][level], balance[left][level])
    return phi[left][~level], phi[right][~level], plateau


def _bisect(
    rule: UpdateRule, low: Float[np.ndarray, " B"], high: Float[np.ndarray, " B"]
) -> list[Zero]:
    """Narrow all brackets at once, then tell a smooth zero from a jump by what is left of Δφ."""
    if len(low) == 0:
        return []
    before = np.maximum(np.abs(rule(low).total), np.abs(rule(high).total))
    left_sign = np.sign(rule(low).balance)
    wide = np.flatnonzero(high - low > WIDTH)
    while len(wide):
        middle = low[wide] + (high[wide] - low[wide]) / 2
        stays = left_sign[wide] * rule(middle).balance >= 0
        low[wide], high[wide] = (
            np.where(stays, middle, low[wide]),
            np.where(stays, high[wide], middle),
        )
        wide = wide[high[wide] - low[wide] > WIDTH]
    after = np.maximum(np.abs(rule(low).total), np.abs(rule(high).total))
    jumps = after > 1e-3 * before
    return [
        _zero(place, "jump" if jump else "smooth", sign)
        for place, jump, sign in zip(low, jumps, left_sign, strict=True)
    ]
