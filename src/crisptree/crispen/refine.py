"""An axis-aligned soft tree that turns crisp while it learns.

This one loop is the direct route (a random wide tree), the refinement of a crisp tree (softened
first), and the polish after pruning: what differs is where it starts and the schedule.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from crisptree.crisp import CrispTree
from crisptree.crispen.harden import harden
from crisptree.crispen.select import Selection
from crisptree.envs.registry import greatest_return
from crisptree.envs.spaces import Task
from crisptree.learn.agent import Agent
from crisptree.learn.session import Progress, Segment, learn
from crisptree.learn.stacks import first, pick

SNAPSHOTS_FROM = 2 / 3
SEGMENTS = 24
LONGEST = 16
"""Updates in a segment, at most: what a compiled segment has room for."""


class Snapshot(NamedTuple):
    """A crisp tree read off in training, and which of the vmapped starts it came from."""

    tree: CrispTree
    start: int


class Refined(NamedTuple):
    tree: CrispTree
    agent: Agent
    start: int
    """Which of the vmapped starts the tree and the agent are."""
    selection_return: float
    """Mean return of the crisp tree on selection episodes (those that chose it)."""


OnSegment = Callable[[Progress, Sequence[Snapshot]], None]


def anneal(
    agents: Agent,
    task: Task,
    segment: Segment,
    selection: Selection,
    *,
    snapshots: Sequence[Snapshot] = (),
    on_segment: OnSegment | None = None,
    rounds: Sequence[int] = (32, 64, 128),
    enough: int = 0,
) -> Refined:
    """Train axis-aligned `agents` while their steepness grows; keep the best crisp snapshot.

    Snapshots are read off over the last third, when the tree in training is nearly crisp, from
    every start, and race on selection episodes. A flawless one of at most `enough` leaves ends
    the training whenever it comes: nothing is left to learn.
    """
    snapshots = list(snapshots)
    total = first(agents.n_updates)
    length = min(LONGEST, max(1, total // SEGMENTS))
    segments = learn(agents, segment, length)
    # Asked before the first segment too: a run may have been stopped right after its last one.
    while (best := _flawless(agents, task, selection, rounds, enough)) is None:
        progress = next(segments, None)
        if progress is None:
            break
        agents = progress.agents
        if progress.update >= total * SNAPSHOTS_FROM:
            snapshots += _read_off(agents, task)
        if on_segment is not None:
            on_segment(progress, snapshots)
    if best is not None:
        score = greatest_return(task.env_id)
    else:
        index, score = selection.race([snapshot.tree for snapshot in snapshots], rounds)
        best = snapshots[index]
    return Refined(best.tree, pick(agents, best.start), best.start, score)


def _read_off(agents: Agent, task: Task) -> list[Snapshot]:
    starts = [pick((agents.actor, agents.observations), i) for i in range(len(agents.update))]
    return [Snapshot(harden(*start, task).simplify(), i) for i, start in enumerate(starts)]


def _flawless(
    agents: Agent, task: Task, selection: Selection, rounds: Sequence[int], enough: int
) -> Snapshot | None:
    small = [each for each in _read_off(agents, task) if each.tree.n_leaves <= enough]
    found = selection.flawless([each.tree for each in small], first(agents.update), rounds)
    return None if found is None else small[found]
