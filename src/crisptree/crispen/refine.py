"""An axis-aligned soft tree that turns crisp while it learns.

This one loop is the direct route (a random wide tree), the refinement of a crisp tree (softened
first), and the polish after pruning: what differs is where it starts and the schedule.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import equinox as eqx
import numpy as np

from crisptree.crisp import CrispTree
from crisptree.crispen.harden import harden
from crisptree.crispen.select import Selection
from crisptree.envs.task import Task
from crisptree.learn.stacks import n_seeds, pick
from crisptree.learn.trainer import Between, Progress, Trainer

SNAPSHOTS_FROM = 2 / 3
"""Progress from which on snapshots are read off: the tree in training is nearly crisp by then."""
SEGMENTS = 24
"""Least segments of a training, so that a short one has several snapshots."""
LONGEST_SEGMENT = 16


class Snapshot(NamedTuple):
    """A crisp tree read off in training, and which of the stacked starts it came from."""

    tree: CrispTree
    start: int


class Refined(NamedTuple):
    tree: CrispTree
    state: Any
    """The learner of that start as training left it: its critic and moments serve what follows."""
    start: int
    selection_return: float
    """Mean return of the tree on the selection episodes that chose it."""
    updates: int
    """Updates of the start that made most."""


@runtime_checkable
class Race(Protocol):
    """Something that chooses among trees by return."""

    def race(self, trees: Sequence[CrispTree], rounds: Sequence[int]) -> tuple[int, float]:
        """The index of the best tree and its mean return."""
        ...


OnSegment = Callable[[Progress, Sequence[Snapshot]], object]


def anneal(
    states: Any,
    trainer: Trainer,
    task: Task,
    selection: Race,
    *,
    started_from: Snapshot | None = None,
    earlier: Sequence[Snapshot] = (),
    on_segment: OnSegment | None = None,
    between: Between | None = None,
    rounds: Sequence[int] = (32, 64, 128),
    is_late: Callable[[], bool] = lambda: False,
) -> Refined:
    """Train axis-aligned trees while their steepness grows; return the best crisp snapshot.

    Snapshots are taken of every start over the last third of its training, and of the mean of its
    actor at the end. They race on selection episodes with the tree it started from and with
    `earlier` snapshots of a resumed training. A winner must beat the tree it started from once
    more.
    """
    snapshots = list(earlier)
    length = min(LONGEST_SEGMENT, max(1, int(np.max(states.n_updates)) // SEGMENTS))
    for progress in trainer.learn(states, length, between=between, is_late=is_late):
        moved = np.asarray(progress.states.update) > np.asarray(states.update)
        states = progress.states
        late = np.asarray(states.progress) >= SNAPSHOTS_FROM
        snapshots += [read_off(states, int(i), task) for i in np.flatnonzero(moved & late)]
        if on_segment is not None:
            on_segment(progress, snapshots)
    if float(np.min(states.progress)) < SNAPSHOTS_FROM:  # time was up before the last third
        snapshots += [read_off(states, i, task) for i in range(n_seeds(states))]
    means = [read_off(averaged(states), i, task) for i in range(n_seeds(states))]
    # If there is no time for all, the tree it started from and the last snapshots race.
    first = [] if started_from is None else [started_from]
    snapshots = [*first, *means, *reversed(snapshots)]
    index, score = selection.race([snapshot.tree for snapshot in snapshots], rounds)
    if started_from is not None and index > 0:
        # The winner of many may have been lucky, so it is compared with the tree before once more.
        again, score = selection.race([started_from.tree, snapshots[index].tree], (2 * rounds[-1],))
        index = again * index
    best = snapshots[index]
    state = pick(states, best.start)
    return Refined(best.tree, state, best.start, score, int(np.max(states.update)))


def polish(
    states: Any,
    trainer: Trainer,
    task: Task,
    selection: Selection,
    tree: CrispTree,
    *,
    on_segment: OnSegment,
    between: Between | None = None,
    rounds: Sequence[int] = (64, 64, 128, 256),
    is_late: Callable[[], bool] = lambda: False,
) -> Refined:
    """Train a softened tree for a short time; return its mean, made crisp, or `tree` itself unless
    that stays ahead of it in all rounds of fresh episodes.

    Many short trainings, each from the best tree so far, achieve more than a long one: a softened
    tree acts worse at first, and a long training may lose what it began with.
    """
    for progress in trainer.learn(states, between=between, is_late=is_late):
        states = progress.states
        on_segment(progress, ())
    mean = read_off(averaged(states), 0, task)
    is_better, score = selection.beats(mean.tree, tree, rounds)
    chosen = mean.tree if is_better else tree
    return Refined(chosen, pick(states, 0), 0, score, int(np.max(states.update)))


def averaged(states: Any) -> Any:
    """The states with the mean of each actor in its place."""
    return eqx.tree_at(lambda each: each.actor, states, states.average)


def read_off(states: Any, start: int, task: Task) -> Snapshot:
    """The crisp tree of one start, without needless nodes."""
    tree, moments = pick((states.actor, states.observations), start)
    return Snapshot(harden(tree, moments, task).simplify(), start)
