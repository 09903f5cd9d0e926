"""Refinement: a crisp tree goes on learning as an axis-aligned soft tree that turns crisp again."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import numpy as np

from crisptree.crisp import CrispTree
from crisptree.crispen.harden import harden
from crisptree.crispen.select import Selection
from crisptree.envs.spaces import Task
from crisptree.learn.agent import Agent, Actor, create
from crisptree.learn.config import Learning
from crisptree.learn.moments import Moments
from crisptree.learn.session import Progress, Segment, learn, pick, stack
from crisptree.soft import MLP


class Refined(NamedTuple):
    tree: CrispTree
    selection_return: float
    training_return: float
    agent: Agent


def anneal(
    actor: Actor,
    task: Task,
    config: Learning,
    n_updates: int,
    segment: Segment,
    selection: Selection,
    *,
    key,
    critic: MLP | None = None,
    observations: Moments | None = None,
    n_snapshots: int = 8,
    report: Callable[[Progress], None] | None = None,
) -> Refined:
    """Train `actor`, an axis-aligned tree, while its steepness grows; keep the best crisp snapshot.

    Snapshots are read off over the last third, when the tree in training is nearly crisp.
    """
    agent = create(
        actor, task.n_features, config, n_updates, key=key, critic=critic, observations=observations
    )
    snapshots: list[CrispTree] = []
    agents = stack([agent])
    every = max(1, n_updates // (3 * n_snapshots))
    recent: list[float] = []
    for progress in learn(agents, segment, every):
        agents = progress.agents
        recent = [*recent, *np.ravel(progress.metrics["return"])][-10:]
        if progress.update >= n_updates * 2 / 3:
            agent = pick(agents, 0)
            snapshots.append(harden(agent.actor, agent.observations, task))
        if report is not None:
            report(progress)
    index, score = selection.race(snapshots, (32, 64, 128))
    return Refined(snapshots[index].simplify(), score, float(np.nanmean(recent)), pick(agents, 0))
