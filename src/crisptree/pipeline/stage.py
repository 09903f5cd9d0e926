"""A stage takes what earlier stages made and makes something of it.

It depends on its settings, its seed and its inputs alone: a run that was interrupted and resumed
ends with the same bytes, and a stage with the same key need not run twice.
"""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import equinox as eqx
import jax
import numpy as np

from crisptree import soft
from crisptree.crisp import CrispTree
from crisptree.crisp.signature import Feature
from crisptree.crispen.mend import ROUNDING, is_lost
from crisptree.crispen.pace import Pace, Timetable
from crisptree.crispen.refine import Snapshot
from crisptree.crispen.select import Selection
from crisptree.envs.policy import Policy
from crisptree.envs.task import Task
from crisptree.learn import checkpoint
from crisptree.learn.config import AnyConfig
from crisptree.learn.exact_model import ExactModel
from crisptree.learn.moments import Moments
from crisptree.learn.trainer import Progress, Trainer
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.progress import Reporter

LEAST_UPDATES = 8
"""Least updates of any training: fewer teach nothing."""


class Values(eqx.Module):
    """What a learner has besides its policy: the critic, and the moments of observations."""

    critic: soft.MLP
    observations: Moments

    @staticmethod
    def empty(n_features: int, critic_width: int) -> "Values":
        critic = soft.critic(n_features, critic_width, key=jax.random.key(0))
        return Values(critic, Moments.empty((n_features,)))


@dataclass(frozen=True)
class Artifacts:
    """What stages hand on."""

    tree: CrispTree | None = None
    small: CrispTree | None = None
    """A tree of the size asked for, imitated directly; a rival of the wide tree once that is
    cut."""
    values: Values | None = None
    teacher: Policy | None = None
    derived: tuple[Feature, ...] = ()
    """Derived features that trees may use besides the observed ones."""
    learner: Any = None
    """The states of the teacher's own training, for teachers that are saved."""
    pace: float = 1.0
    """The share of its planned steps that the first training needed until returns no longer rose;
    later trainings are planned by it."""
    best_return: float = -math.inf
    """The best return so far: a learner's mean over an update, or a teacher's best episode."""
    figures: dict[str, Any] = field(default_factory=dict)
    """The figures of the last stage, for `result.json` and the summary."""


@runtime_checkable
class Checkpoints(Protocol):
    """Saves how far a stage that learns has come."""

    def resumed(self, states: Any) -> tuple[Any, list[Snapshot]]:
        """The states and snapshots of the last checkpoint, or `states` where there is none."""
        ...

    def segment(self, progress: Progress, snapshots: Sequence[Snapshot] = ()) -> None:
        """Log a segment, and write a checkpoint where one is possible."""
        ...

    def training_return(self, start: int = 0) -> float | None:
        """Mean return in training, sampled and still soft, when episodes last ended."""
        ...

    def best_return(self) -> float | None:
        """The best mean return of an update."""
        ...


@dataclass(frozen=True)
class Context:
    """What a stage may use besides its inputs."""

    task: Task
    config: TrainConfig
    seed: int
    """The seed of all randomness of this stage."""
    checkpoints: Checkpoints
    report: Reporter
    name: str
    model: ExactModel | None = None
    """The environment's own model, where it carries one."""
    deadline: float = float("inf")
    """When the stage should be done, on `time.monotonic`'s clock."""
    end: float = float("inf")
    """When all stages must be done; no episodes are played after it."""
    pace: Pace = field(default_factory=Pace)
    """How long episodes take, as all stages of a plan measure it together."""

    @property
    def key(self) -> jax.Array:
        return jax.random.key(self.seed % 2**32)

    def rng(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)

    def selection(self) -> Selection:
        scale = self.config.selection.scale
        scale = 1.0 if scale is None else scale
        times = Timetable(self.end, self.deadline)
        return Selection(self.task, self.seed, scale, self.model, times, self.pace)

    def trainer(self, learning: AnyConfig, n_seeds: int = 1, seed: int | None = None) -> Trainer:
        """A trainer on the task, with checkpoints as the configuration says."""
        return Trainer(
            self.task,
            learning,
            n_seeds,
            self.seed if seed is None else seed,
            restart_every=self.config.checkpoint_every,
        )

    def is_late(self) -> bool:
        return time.monotonic() > self.deadline

    def time_used(self) -> Callable[[], float]:
        """A function that returns the used share of the time from now to the deadline."""
        began = time.monotonic()
        given = max(self.deadline - began, 1e-9)
        return lambda: (time.monotonic() - began) / given

    def is_over(self) -> bool:
        return time.monotonic() > self.end

    def is_settled(self, tree: CrispTree, best_return: float) -> bool:
        """Whether a tree is settled, as `is_settled` below tells; False once the time is up."""
        if self.is_over():
            return False
        return is_settled(tree, best_return, self.selection(), self.config.selection.settled)

    def has_settled(self, inputs: Artifacts) -> bool:
        """Whether the tree of these inputs is settled; what the stage before found out about it is
        not asked again."""
        assert inputs.tree is not None
        is_known = bool(inputs.figures.get("settled"))
        return is_known or self.is_settled(inputs.tree, inputs.best_return)

    def updates(self, share: float, steps_per_update: int) -> int:
        """Updates of a training that takes a share of the steps."""
        assert self.config.steps is not None, "the configuration is resolved before it is run"
        return max(LEAST_UPDATES, int(share * self.config.steps) // steps_per_update)

    def advance(self, done: float, text: str) -> None:
        self.report.advance(self.name, done, text)


class Stage(ABC):
    """One step of a plan. Stages are frozen dataclasses of what the plan decides."""

    name: str
    """Unique in a plan; the name of the stage's folder."""
    weight: float = 1.0
    """The stage's time compared with the others of its plan."""

    @abstractmethod
    def settings(self, config: TrainConfig) -> dict[str, Any]:
        """All of the configuration that the stage's outcome depends on."""

    @abstractmethod
    def run(self, inputs: Artifacts, context: Context) -> Artifacts:
        """What the stage makes of its inputs, with its figures."""

    def save(self, made: Artifacts, folder: Path) -> None:
        """Write what `load` needs."""
        save_artifacts(folder, made)

    def load(self, folder: Path, inputs: Artifacts, context: Context) -> Artifacts:
        """What the stage made when it ran, read from its folder."""
        return load_artifacts(folder, inputs, context.config, context.task)


def save_artifacts(folder: Path, made: Artifacts) -> None:
    """Write the artifacts, except teachers, which their stages write."""
    if made.tree is not None:
        made.tree.save(folder / "policy.json")
    if made.small is not None:
        made.small.save(folder / "small.json")
    if made.values is not None:
        checkpoint.save(folder / "values.eqx", made.values)


def load_artifacts(folder: Path, inputs: Artifacts, config: TrainConfig, task: Task) -> Artifacts:
    """The inputs, replaced by whatever a stage's folder has."""
    tree, small, values = inputs.tree, inputs.small, inputs.values
    if (folder / "policy.json").exists():
        tree = CrispTree.load(folder / "policy.json")
    if (folder / "small.json").exists():
        small = CrispTree.load(folder / "small.json")
    if (folder / "values.eqx").exists():
        empty = Values.empty(task.n_features, config.ppo.critic_width)
        values = checkpoint.load(folder / "values.eqx", empty)
    return replace(inputs, tree=tree, small=small, values=values)


def is_settled(
    tree: CrispTree, best_return: float, selection: Selection, rounds: Sequence[int]
) -> bool:
    """Whether the tree earns the same in every selection episode of all rounds, and no less than
    was ever earned on the way to it: then the search for a better one ends. Where returns differ, a
    tree that is better than all before it may still become better. One that always does the same
    has learned nothing yet, however alike its returns are: others may."""
    if best_return == -math.inf or tree.n_leaves == 1:
        return False
    rounding = ROUNDING * max(1.0, abs(best_return))

    def is_best_of_all(returns: np.ndarray) -> bool:
        return not is_lost(returns, best_return).any() and float(np.ptp(returns)) <= rounding

    return all(
        selection.affords(1, n) and is_best_of_all(selection.returns([tree], n)) for n in rounds
    )
