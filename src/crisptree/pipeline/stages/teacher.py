"""Teachers that are trained or solved here, for a tree to learn from."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import jax

from crisptree import soft
from crisptree.envs.policy import Policy
from crisptree.learn import checkpoint, sac
from crisptree.learn.acting import greedy
from crisptree.learn.heads import Gaussian, head_for
from crisptree.learn.replay import without_replay
from crisptree.learn.stacks import pick, stack
from crisptree.learn.trainer import algorithm_of
from crisptree.learn.value_iteration import solve
from crisptree.pipeline.config import TeacherKind, TrainConfig
from crisptree.pipeline.stage import Artifacts, Context, Stage, Values
from crisptree.pipeline.teachers import external_teacher, values_seen_by
from crisptree.pipeline.timing import KeepTime


@dataclass(frozen=True)
class Teacher(Stage):
    """A network or a soft tree that learns the task first."""

    name: str
    kind: TeacherKind
    weight: float = 14.0
    patience: float = 1.0
    """Progress at which it gives up if nothing was learned: less than 1 if another one waits."""

    def settings(self, config: TrainConfig) -> dict[str, Any]:
        return {
            "learning": asdict(self._learning(config)),
            "teacher": asdict(config.teacher),
            "steps": config.steps,
        }

    def run(self, inputs: Artifacts, context: Context) -> Artifacts:
        learning = self._learning(context.config)
        states, _ = context.checkpoints.resumed(self._fresh(context))
        with context.trainer(learning) as trainer:
            keep_time = KeepTime(context.deadline)
            for progress in trainer.learn(states, between=keep_time, is_late=context.is_over):
                states = progress.states
                context.checkpoints.segment(progress)
                if float(states.progress[0]) >= self.patience and not _has_learned(states):
                    break
        figures = {
            "learned": _has_learned(states),
            "training_return": context.checkpoints.training_return(),
            "best_return": context.checkpoints.best_return(),
            "pace": min(1.0, int(states.update[0]) / int(states.n_updates[0])),
            "steps": int(states.update[0]) * learning.steps_per_update,
        }
        return replace(self._handed_on(inputs, states, context), figures=figures)

    def save(self, made: Artifacts, folder: Path) -> None:
        checkpoint.save(folder / "teacher.eqx", without_replay(made.learner))

    def load(self, folder: Path, inputs: Artifacts, context: Context) -> Artifacts:
        states = checkpoint.load(folder / "teacher.eqx", without_replay(self._fresh(context)))
        return self._handed_on(inputs, states, context)

    def _handed_on(self, inputs: Artifacts, states: Any, context: Context) -> Artifacts:
        learner = pick(states, 0)
        if self.kind in ("dqn", "sac"):  # they know values of actions, not of states
            empty = Values.empty(context.task.n_features, context.config.ppo.critic_width)
            values = Values(empty.critic, learner.observations)
        else:
            values = Values(learner.critic, learner.observations)
        return replace(inputs, teacher=greedy(learner), values=values, learner=states)

    def _learning(self, config: TrainConfig) -> Any:
        match self.kind:
            case "dqn" | "sac":
                return replace(getattr(config, self.kind), longest=config.teacher.longest)
            case _:
                return config.ppo_for(self.kind)

    def _fresh(self, context: Context) -> Any:
        config, task = context.config, context.task
        learning = self._learning(config)
        for_actor, for_learner = jax.random.split(context.key)
        head, share = head_for(task.actions), config.teacher.share
        if self.kind == "sac":
            assert isinstance(head, Gaussian)
            head, share = sac.squashed(head), config.teacher.sac_share
        if self.kind == "soft":
            shape = soft.balanced(config.teacher.leaves)
            actor = soft.SoftTree.random(shape, task.n_features, head, key=for_actor)
        else:
            hidden = (config.teacher.width, config.teacher.width)
            actor = soft.MLP.policy(task.n_features, hidden, head, key=for_actor)
        n_updates = context.updates(share, learning.steps_per_update)
        init = algorithm_of(learning).init
        return stack([init(actor, task.n_features, learning, n_updates, key=for_learner)])


@dataclass(frozen=True)
class Fallback(Teacher):
    """A second teacher, of another kind, if the first one has learned nothing."""

    weight: float = 1.0

    def run(self, inputs: Artifacts, context: Context) -> Artifacts:
        if inputs.figures.get("learned", True):
            return replace(inputs, learner=None, figures={})
        return super().run(inputs, context)

    def save(self, made: Artifacts, folder: Path) -> None:
        if made.learner is not None:
            super().save(made, folder)

    def load(self, folder: Path, inputs: Artifacts, context: Context) -> Artifacts:
        if not (folder / "teacher.eqx").exists():
            return inputs
        return super().load(folder, inputs, context)


def _has_learned(states: Any) -> bool:
    """Whether a training's returns have risen, or were too few to tell."""
    return not bool(states.schedule.is_flat[0])


@dataclass(frozen=True)
class Exact(Stage):
    """Value iteration, where the environment carries its own transition table."""

    name: str = "teacher-exact"
    weight: float = 0.5

    def settings(self, config: TrainConfig) -> dict[str, Any]:
        return {}

    def run(self, inputs: Artifacts, context: Context) -> Artifacts:
        made = self._handed_on(inputs, context)
        assert context.model is not None and made.teacher is not None
        return replace(made, figures={"best_return": context.model.mean_return(made.teacher)})

    def save(self, made: Artifacts, folder: Path) -> None:
        """Write nothing: solving again is faster than reading."""

    def load(self, folder: Path, inputs: Artifacts, context: Context) -> Artifacts:
        return self._handed_on(inputs, context)

    def _handed_on(self, inputs: Artifacts, context: Context) -> Artifacts:
        teacher = solve(context.task)
        return replace(inputs, teacher=teacher, values=values_seen_by(teacher, context))


@dataclass(frozen=True)
class External(Stage):
    """Somebody else's policy."""

    name: str = "teacher-external"
    weight: float = 0.1

    def settings(self, config: TrainConfig) -> dict[str, Any]:
        return {"policy": config.teacher.policy}

    def run(self, inputs: Artifacts, context: Context) -> Artifacts:
        return self._handed_on(inputs, context)

    def save(self, made: Artifacts, folder: Path) -> None:
        """Write nothing: the policy stays where it is."""

    def load(self, folder: Path, inputs: Artifacts, context: Context) -> Artifacts:
        return self._handed_on(inputs, context)

    def _handed_on(self, inputs: Artifacts, context: Context) -> Artifacts:
        assert context.config.teacher.policy is not None
        teacher: Policy = external_teacher(context.config.teacher.policy, context.task)
        return replace(inputs, teacher=teacher, values=values_seen_by(teacher, context))
