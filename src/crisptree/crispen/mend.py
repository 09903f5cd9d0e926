"""A tree that loses one episode in thousands: small changes, judged by the episodes that were lost.

Trees that fail as rarely as that earn the same in a race: hardly an episode of it tells them apart.
So the tree plays fresh episodes until it loses some, and changes are tried on the lost ones first.
What was lost once stays among them, so that no later change loses it again unseen.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.crispen.config import SearchConfig, SelectionConfig
from crisptree.crispen.prune import rows_by_node
from crisptree.crispen.search import WIDTH
from crisptree.crispen.select import Selection
from crisptree.crispen.worst_case import changed

ROUNDING = 1e-9
"""Returns that differ by this share are equal."""
TRIES, PATIENCE = 16, 8
"""Tries for each sweep of the search, at most and without a gain: a try plays few episodes."""
CONFIRMED = 3
"""How many of the changes that lose fewer episodes are tried on fresh ones."""
COMPILED = 4
"""Times as many of these fresh episodes where they are compiled."""


class Mended(NamedTuple):
    tree: CrispTree
    is_flawless: bool
    """Whether it lost none of the fresh episodes of the last check."""
    n_lost: int
    """Lost episodes on which changes were tried."""


class Check(NamedTuple):
    """What a tree lost of fresh episodes."""

    lost: tuple[int, ...]
    """The seeds of the lost episodes."""
    best_return: float
    """The most that was ever earned, in these episodes or before; less is lost."""
    share: float = 0.0
    is_whole: bool = True
    """Whether there was time for all of them."""

    @property
    def is_flawless(self) -> bool:
        return self.is_whole and not self.lost


def is_lost(returns: NDArray[np.float64], best_return: float) -> NDArray[np.bool_]:
    """Which episodes earned less than the best return so far."""
    return returns < best_return - ROUNDING * max(1.0, abs(best_return))


def check(
    tree: CrispTree, best_return: float, selection: Selection, settings: SelectionConfig
) -> Check:
    """Play fresh episodes, round by round, to the end of the first round with a lost one.

    Where returns differ, nearly all of them are less than the best, and so they are lost.
    """
    more = settings.compiled if selection.is_compiled() else ()
    for number, episodes in enumerate((*settings.settled, *more)):
        if number >= len(settings.settled) and not selection.is_quick(episodes):
            break
        if not selection.affords(1, episodes):
            return Check((), best_return, is_whole=False)
        seeds = selection.fresh(episodes)
        returns = selection.returns_on([tree], seeds)
        if returns is None:
            return Check((), best_return, is_whole=False)
        best_return = max(best_return, float(returns.max()))
        lost = np.flatnonzero(is_lost(returns[0], best_return))
        if len(lost):
            return Check(tuple(seeds[i] for i in lost), best_return, len(lost) / len(seeds))
    return Check((), best_return)


def mend(
    tree: CrispTree,
    best_return: float,
    settings: SearchConfig,
    rounds: SelectionConfig,
    selection: Selection,
    states_met_by: Callable[[CrispTree], NDArray],
    rng: np.random.Generator,
    most_leaves: int,
    is_list: bool = False,
    report: Callable[[float, CrispTree, int], object] = lambda done, tree, n_lost: None,
    is_late: Callable[[], bool] = lambda: False,
) -> Mended:
    """The tree, changed until it earns the best return in all fresh episodes of a check.

    A tree that is not nearly flawless stays as it is. It also ends, without a flawless tree, if
    nothing was gained for a while, or if `is_late`.
    """
    assert settings.sweeps is not None, "the configuration is resolved before it is run"
    tree = tree.simplify()
    now = check(tree, best_return, selection, rounds)
    hard, idle, states = now.lost, 0, None
    if now.share > settings.lost_share:
        return Mended(tree, False, len(hard))
    tries = TRIES * settings.sweeps
    for number in range(tries):
        if not now.lost or idle == PATIENCE * settings.patience or is_late():
            break
        states = states_met_by(tree) if states is None else states
        tried = _changes(tree, states, settings.width or WIDTH, most_leaves, is_list, rng)
        better = _better(tree, tried, now.best_return, hard[-settings.lost :], settings, selection)
        idle += 1
        if better is not None:
            tree, idle, states = better.simplify(), 0, None
            now = check(tree, now.best_return, selection, rounds)
            hard += now.lost
        report((number + 1) / tries, tree, len(hard))
    return Mended(tree, now.is_flawless, len(hard))


def _changes(
    tree: CrispTree,
    states: NDArray,
    n: int,
    most_leaves: int,
    is_list: bool,
    rng: np.random.Generator,
) -> list[CrispTree]:
    """Variants of the tree; those of a list are lists."""
    columns, rows = tree.columns(states), dict(rows_by_node(tree, states))
    found = [changed(tree, columns, rows, most_leaves, rng) for _ in range(n)]
    return [each for each in found if each.is_rule_list or not is_list]


def _better(
    tree: CrispTree,
    tried: list[CrispTree],
    best_return: float,
    hard: Sequence[int],
    settings: SearchConfig,
    selection: Selection,
) -> CrispTree | None:
    """The change that loses fewest of the hard episodes: fewer than the tree, and no more of fresh
    ones; None if there is none, or no time to tell."""
    played = selection.returns_on([tree, *tried], hard)
    if played is None:
        return None
    n_lost = is_lost(played, best_return).sum(1)
    # Of those that lose equally many, the one that earns most.
    order = np.lexsort((-played.mean(1), n_lost))
    ahead = [tried[i - 1] for i in order if n_lost[i] < n_lost[0]][:CONFIRMED]
    if not ahead or not selection.affords(1 + len(ahead), settings.confirm):
        return None
    # Compiled episodes cost next to nothing.
    fresh = selection.fresh(settings.confirm * (COMPILED if selection.is_compiled() else 1))
    played = selection.returns_on([tree, *ahead], fresh)
    if played is None:
        return None
    of_tree, *others = is_lost(played, best_return).sum(1)
    return next((each for each, n in zip(ahead, others, strict=True) if n <= of_tree), None)
