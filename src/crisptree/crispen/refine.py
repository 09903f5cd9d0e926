"""An axis-aligned soft tree that turns crisp while it learns.

This one loop is the direct route (a random wide tree), the refinement of a crisp tree (softened
first), and the polish after pruning: what differs is where it starts and the schedule.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from crisptree.crisp import CrispTree
from crisptree.crispen.harden import harden
from crisptree.crispen.select import Selection
from crisptree.envs.spaces import Task
from crisptree.learn.agent import Agent
from crisptree.learn.session import Progress, Segment, learn, pick

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
) -> Refined:
    """Train axis-aligned `agents` while their steepness grows; keep the best crisp snapshot.

    Snapshots are read off over the last third, when the tree in training is nearly crisp, from
    every start, and race on selection episodes.
    """
    snapshots = list(snapshots)
    n_starts, total = len(agents.update), int(agents.n_updates[0])
    length = min(LONGEST, max(1, total // SEGMENTS))
    for progress in learn(agents, segment, length):
        agents = progress.agents
        if progress.update >= total * SNAPSHOTS_FROM:
            for start in range(n_starts):
                agent = pick(agents, start)
                tree = harden(agent.actor, agent.observations, task).simplify()
                snapshots.append(Snapshot(tree, start))
        if on_segment is not None:
            on_segment(progress, snapshots)
    index, score = selection.race([snapshot.tree for snapshot in snapshots], rounds)
    best = snapshots[index]
    return Refined(best.tree, pick(agents, best.start), best.start, score)
