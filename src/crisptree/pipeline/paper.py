"""The paper's method: an oblique soft tree (or the MLP baseline), then argmax. Seeds are an
axis."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import jax

from crisptree import soft
from crisptree.crisp import CrispTree
from crisptree.crispen.harden import argmax
from crisptree.crispen.select import Selection
from crisptree.envs.policy import Policy
from crisptree.envs.task import Task
from crisptree.learn import checkpoint, dqn, ppo, reinforce
from crisptree.learn.acting import greedy
from crisptree.learn.config import AnyConfig, ReinforceConfig
from crisptree.learn.heads import head_for
from crisptree.learn.stacks import pick, stack
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.progress import Reporter
from crisptree.pipeline.run_directory import RunDirectory
from crisptree.pipeline.runner import run_stages
from crisptree.pipeline.stage import Artifacts, Context, Stage
from crisptree.pipeline.timing import KeepTime

Q_RATES = {
    ("tree", "q"): 1e-2,
    ("mlp", "q"): 1e-3,
    ("tree", "online-q"): 3e-3,
    ("mlp", "online-q"): 1e-3,
}


@dataclass(frozen=True)
class SoftResult:
    seed: int
    policy: Policy
    """The likeliest action of the soft model."""
    tree: CrispTree | None
    """The discretised tree, before simplifying; none for an MLP."""
    selection_return: float | None
    steps: int
    seconds: float


@dataclass(frozen=True)
class TrainSoft(Stage):
    """All seeds of a soft tree, a soft list or an MLP, side by side."""

    name: str = "soft"
    weight: float = 1.0
    seeds: range = field(default=range(1))

    def settings(self, config: TrainConfig) -> dict[str, Any]:
        return {
            "learning": asdict(learning_for(config)),
            "policy": asdict(config.policy),
            "steps": config.steps,
            "seeds": [self.seeds.start, self.seeds.stop],
        }

    def run(self, inputs: Artifacts, context: Context) -> Artifacts:
        learning = learning_for(context.config)
        states, _ = context.checkpoints.resumed(self._fresh(context))
        with context.trainer(learning, len(self.seeds), self.seeds.start) as trainer:
            for progress in trainer.learn(states, between=KeepTime(context.deadline)):
                states = progress.states
                context.checkpoints.segment(progress)
        steps = [int(update) * learning.steps_per_update for update in states.update]
        return replace(inputs, learner=states, figures={"steps": steps})

    def save(self, made: Artifacts, folder: Path) -> None:
        checkpoint.save(folder / "states.eqx", made.learner)

    def load(self, folder: Path, inputs: Artifacts, context: Context) -> Artifacts:
        states = checkpoint.load(folder / "states.eqx", self._fresh(context))
        return replace(inputs, learner=states)

    def _fresh(self, context: Context) -> Any:
        return stack([fresh_learner(context.config, context.task, seed) for seed in self.seeds])


def train_soft(
    config: TrainConfig, task: Task, directory: RunDirectory, report: Reporter
) -> Iterator[SoftResult]:
    """Train every seed of `config` side by side and discretise each."""
    seeds = range(config.seed, config.seed + config.seeds)
    stages = [TrainSoft("mlp" if config.policy.kind == "mlp" else "soft", seeds=seeds)]
    minutes = None if config.budget is None else config.budget * 0.9
    made, (record,) = run_stages(
        stages, task, config, config.seed, directory, report, minutes=minutes
    )
    for index, seed in enumerate(seeds):
        learner = pick(made.learner, index)
        folder = directory.folder("soft" if len(seeds) == 1 else f"seed-{seed}/soft")
        checkpoint.save(folder / "learner.eqx", learner)
        tree = score = None
        if config.policy.kind != "mlp":
            choice = config.paper.feature_choice
            tree = argmax(learner.actor, learner.observations, task, choice)
            score = Selection(task, seed, config.selection.scale or 1.0).mean(tree, 128)
        yield SoftResult(
            seed,
            greedy(learner),
            tree,
            score,
            record["steps"][index],
            round(record["seconds"] / len(seeds), 2),
        )


def learning_for(config: TrainConfig) -> AnyConfig:
    """The learner for the paper's method, by the configuration."""
    asked, is_mlp = config.paper, config.policy.kind == "mlp"
    rate = asked.learning_rate
    if asked.algorithm in ("q", "online-q"):
        default = Q_RATES["mlp" if is_mlp else "tree", asked.algorithm]
        algorithm = "dqn" if asked.algorithm == "q" else "online_q"
        return replace(
            config.dqn, algorithm=algorithm, learning_rate=default if rate is None else rate
        )
    base = config.ppo_for("mlp" if is_mlp else "soft")
    # Trees and networks are compared by the same number of passes and steps.
    passes = {name: getattr(config.ppo, name) for name in ("n_epochs", "n_minibatches", "longest")}
    base = replace(base, **passes)
    base = base if rate is None else replace(base, learning_rate=rate)
    if asked.algorithm == "ppo":
        return base
    shared = {name: getattr(base, name) for name in ReinforceConfig.__dataclass_fields__}
    return ReinforceConfig(**shared)


def fresh_learner(config: TrainConfig, task: Task, seed: int) -> Any:
    """An untrained learner around the model that is asked for."""
    learning, head = learning_for(config), head_for(task.actions)
    for_actor, for_learner = jax.random.split(jax.random.key(seed))
    size = config.policy.size
    assert size is not None and config.steps is not None
    if config.policy.kind == "mlp":
        actor = soft.baseline(size, task.n_features, head, key=for_actor)
    else:
        shape = soft.rule_list(size) if config.policy.kind == "list" else soft.balanced(size)
        gains = config.policy.gains if config.policy.leaf == "linear" else 0
        actor = soft.SoftTree.random(shape, task.n_features, head, key=for_actor, gains=gains)
    n_updates = max(1, config.steps // learning.steps_per_update)
    module = {"q": dqn, "online-q": dqn, "ppo": ppo, "reinforce": reinforce}[config.paper.algorithm]
    return module.init(actor, task.n_features, learning, n_updates, key=for_learner)
