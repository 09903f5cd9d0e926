"""The paper's way: an oblique soft tree (or the MLP baseline), then argmax. Seeds are an axis."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np

from crisptree import soft
from crisptree.crisp import CrispTree
from crisptree.crispen.harden import argmax
from crisptree.crispen.select import Selection
from crisptree.envs.spaces import Task, describe
from crisptree.learn import checkpoint, q_agent
from crisptree.learn.agent import Agent, Learner, create
from crisptree.learn.config import Learning
from crisptree.learn.q_agent import QAgent
from crisptree.learn.q_config import QLearning
from crisptree.learn.session import learn, segment_for
from crisptree.learn.stacks import pick, stack
from crisptree.pipeline.directory import RunDirectory
from crisptree.pipeline.keeper import Keeper
from crisptree.pipeline.recipe import recipe_for
from crisptree.pipeline.report import Reporter
from crisptree.pipeline.settings import Settings
from crisptree.pipeline.teachers import greedy

SEGMENT = 16
Q_RATES = {
    ("tree", "q"): 1e-2,
    ("mlp", "q"): 1e-3,
    ("tree", "online-q"): 3e-3,
    ("mlp", "online-q"): 1e-3,
}


class GreedyPolicy:
    """A soft agent that takes its likeliest action."""

    def __init__(self, agent: Learner) -> None:
        self._act = greedy(agent)

    def predict(
        self, observation: Any, state: Any = None, episode_start: Any = None, deterministic=True
    ) -> tuple[np.ndarray, Any]:
        return self._act(np.asarray(observation)), state


@dataclass(frozen=True)
class SoftResult:
    seed: int
    policy: GreedyPolicy
    tree: CrispTree | None
    """The discretised tree, before simplifying; none for an MLP."""
    selection_return: float | None
    steps: int
    seconds: float


def train_soft(settings: Settings, directory: RunDirectory, tell: Reporter) -> Iterator[SoftResult]:
    """Train every seed of `settings` side by side and discretise each."""
    task = describe(settings.env)
    config = learning_for(settings)
    steps = recipe_for(settings.env).soft_steps if settings.steps is None else settings.steps
    n_updates = max(1, steps // config.steps_per_update)
    seeds = range(settings.seed, settings.seed + settings.seeds)
    agents = stack([_fresh(settings, task, config, n_updates, seed) for seed in seeds])
    name = "mlp" if settings.mlp is not None else "soft"
    keeper = Keeper(directory, 1, name, config.steps_per_update, tell)
    agents, _ = keeper.resumed(agents)
    segment = segment_for(settings.env, config, len(seeds), settings.seed, SEGMENT)
    for progress in learn(agents, segment, SEGMENT):
        agents = progress.agents
        keeper.segment(progress)
    if keeper.result() is None:
        keeper.finish({"steps": n_updates * config.steps_per_update}, agent=agents)
    seconds = (keeper.result() or {})["seconds"]
    for index, seed in enumerate(seeds):
        agent = pick(agents, index)
        folder = directory.folder("soft" if len(seeds) == 1 else f"seed-{seed}/soft")
        critic = agent.critic if isinstance(agent, Agent) else None
        checkpoint.save(folder / "agent.npz", (agent.actor, critic, agent.observations))
        tree = score = None
        if settings.mlp is None:
            tree = argmax(agent.actor, agent.observations, task, settings.feature_choice)
            score = float(np.mean(Selection(settings.env, seed).returns([tree], 128)[0]))
        yield SoftResult(
            seed,
            GreedyPolicy(agent),
            tree,
            score,
            n_updates * config.steps_per_update,
            round(seconds / len(seeds), 2),
        )


def learning_for(settings: Settings) -> Learning | QLearning:
    """What `settings` ask of the learner, on the base of what serves the environment."""
    if settings.algorithm in ("q", "online-q"):
        rate = Q_RATES["mlp" if settings.mlp is not None else "tree", settings.algorithm]
        return QLearning(
            algorithm=settings.algorithm,
            optimiser=settings.optimiser,
            learning_rate=rate if settings.learning_rate is None else settings.learning_rate,
        )
    recipe = recipe_for(settings.env)
    base = recipe.teacher if settings.mlp is not None else recipe.soft
    rate = base.learning_rate if settings.learning_rate is None else settings.learning_rate
    return replace(
        base, algorithm=settings.algorithm, optimiser=settings.optimiser, learning_rate=rate
    )


def _fresh(
    settings: Settings, task: Task, config: Learning | QLearning, n_updates: int, seed: int
) -> Agent | QAgent:
    for_actor, for_agent = jax.random.split(jax.random.key(seed))
    sizes = (task.n_features, task.n_actions)
    if settings.mlp is not None:
        actor = soft.baseline(settings.mlp, *sizes, key=for_actor)
    else:
        shape = (
            soft.rule_list(settings.rules)
            if settings.rules is not None
            else soft.balanced(settings.size)
        )
        actor = soft.SoftTree.random(shape, *sizes, key=for_actor)
    if isinstance(config, QLearning):
        return q_agent.create(actor, task.n_features, config, n_updates, key=for_agent)
    return create(actor, task.n_features, config, n_updates, key=for_agent)
