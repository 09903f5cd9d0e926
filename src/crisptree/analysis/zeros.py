"""Every critical point, Δφ = 0, in a range: where it is, of what kind, and whether it attracts.

The search looks at signs of the balance Δφ / Σ|terms|, which keeps its size where Δφ itself is
exponentially small. Three things could hide a zero, and each has an answer:

- a jump where φ crosses a state: the grid holds both sides of every integer;
- two zeros between neighbouring grid points: wherever the balance dips towards zero without
  crossing it, the dip is searched on ever finer grids;
- a stretch where all terms are below the smallest float: a change of sign across it is reported
  as a plateau.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from jaxtyping import Float, Int

from crisptree.analysis.setting import Setting
from crisptree.analysis.update import UpdateRule

Kind = Literal["smooth", "jump", "plateau"]

WIDTH = 1e-12
"""Bisection goes on until a bracket is this narrow, or its ends are neighbouring floats."""
DIP = 0.5
"""A dip is searched where the parabola through three neighbours loses this share of its height."""
LEVELS = 6
"""Each level of a dip's search divides the distance between its points by four."""


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

    `balance` is the rule's balance on the grid `phi`.
    """
    low, high, plateau = _brackets(phi, balance)
    dips = _zoom(rule, *_dips(phi, balance))
    zeros = [_zero((a + b) / 2, "plateau", s) for a, b, s in zip(*plateau, strict=True)]
    zeros += _bisect(rule, np.concatenate([low, dips[0]]), np.concatenate([high, dips[1]]))
    return tuple(sorted(zeros, key=lambda zero: zero.phi))


def _zero(phi: float, kind: Kind, left_sign: float) -> Zero:
    return Zero(float(phi), kind, bool(left_sign > 0))


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


def _dips(
    phi: Float[np.ndarray, " P"], balance: Float[np.ndarray, " P"]
) -> tuple[Float[np.ndarray, " D"], Float[np.ndarray, " D"]]:
    """Ends of the triples of points that, by the parabola through them, may hide two zeros."""
    a, b, c = balance[:-2], balance[1:-1], balance[2:]
    # With the middle point as origin and the spacing as unit: b + tilt·x + bend·x²/2.
    tilt, bend = (c - a) / 2, a - 2 * b + c
    curved = bend * b > 0
    bend = np.where(curved, bend, 1.0)
    lowest, depth = -tilt / bend, tilt**2 / (2 * bend)
    hides = curved & (np.abs(lowest) <= 1) & (np.abs(depth) >= DIP * np.abs(b))
    alike = (a * b > 0) & (b * c > 0)
    # A triple across a state is no smooth piece.
    within = np.minimum(phi[1:-1] - phi[:-2], phi[2:] - phi[1:-1]) > WIDTH
    found = hides & alike & within
    return phi[:-2][found], phi[2:][found]


def _zoom(
    rule: UpdateRule, low: Float[np.ndarray, " D"], high: Float[np.ndarray, " D"]
) -> tuple[Float[np.ndarray, " B"], Float[np.ndarray, " B"]]:
    """Brackets found by looking closer and closer at the deepest point of each dip."""
    found_low: list[float] = []
    found_high: list[float] = []
    for _ in range(LEVELS):
        if len(low) == 0:
            break
        points = np.linspace(low, high, 9, axis=1)
        balance = rule(points.ravel()).balance.reshape(points.shape)
        row, column = _changes(np.sign(balance))
        found_low += points[row, column].tolist()
        found_high += points[row, column + 1].tolist()
        left = ~np.isin(np.arange(len(low)), row)
        points, deepest = points[left], np.argmin(np.abs(balance[left]), axis=1)
        rows = np.arange(len(points))
        low, high = (
            points[rows, np.maximum(deepest - 1, 0)],
            points[rows, np.minimum(deepest + 1, 8)],
        )
    return np.array(found_low), np.array(found_high)


def _changes(sign: Float[np.ndarray, "D K"]) -> tuple[Int[np.ndarray, " B"], Int[np.ndarray, " B"]]:
    """Row, and column to the left, of every change of sign along the rows."""
    # An exact 0 takes the sign on its left, so that each change is counted once.
    for column in range(1, sign.shape[1]):
        exact = sign[:, column] == 0
        sign[exact, column] = sign[exact, column - 1]
    row, column = np.nonzero(sign[:, :-1] * sign[:, 1:] < 0)
    return row, column


def _bisect(
    rule: UpdateRule, low: Float[np.ndarray, " B"], high: Float[np.ndarray, " B"]
) -> list[Zero]:
    """Narrow all brackets at once, then tell a smooth zero from a jump by what is left of Δφ."""
    if len(low) == 0:
        return []
    before = np.maximum(np.abs(rule(low).total), np.abs(rule(high).total))
    left_sign = np.sign(rule(low).balance)
    while True:
        middle = low + (high - low) / 2
        if np.all((high - low <= WIDTH) | (middle == low) | (middle == high)):
            break
        stays = left_sign * rule(middle).balance >= 0
        low, high = np.where(stays, middle, low), np.where(stays, high, middle)
    after = np.maximum(np.abs(rule(low).total), np.abs(rule(high).total))
    jumps = after > 1e-3 * before
    return [
        _zero(place, "jump" if jump else "smooth", sign)
        for place, jump, sign in zip(low, jumps, left_sign, strict=True)
    ]
