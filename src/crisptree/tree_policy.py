"""A policy as an object with `learn`, `predict`, `save` and `load`, over `crisptree.train`.

model = crisptree.TreePolicy("CartPole-v1", leaves=4).learn(budget=1)
action, _ = model.predict(observation)
model.save("policy.json")
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Unpack

import numpy as np

from crisptree.api import (
    NoMore,
    NothingElse,
    check_callback,
    check_keywords,
    train,
    unknown_keyword,
)
from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.crisp.policy_file import policy_path
from crisptree.envs.evaluate import Score, evaluate
from crisptree.envs.source import Env
from crisptree.envs.task import Task, check_fits, task_of, task_of_policy
from crisptree.pipeline.config import TrainConfig, first_free
from crisptree.pipeline.tracking import Row, Tracker
from crisptree.pipeline.train import Trained

Callback = Callable[[Row], object]
"""Called with the figures of every update; training stops where it returns False."""


class _StoppedByCallbackError(Exception):
    """A callback asked for the end of the training."""


class TreePolicy:
    """A decision-tree policy for an environment, used like a model of Stable-Baselines3.

    `env` and the keywords are those of `crisptree.train`. `learn` trains, and may be called again;
    `tree` is the crisp tree that was learned, `trained` the last training with all its figures.
    `get_params` and `set_params` are scikit-learn's, so `clone` copies the settings.
    """

    def __init__(
        self,
        env: Env | Task | None = None,
        *more: NoMore,
        leaves: int | None = None,
        rules: int | None = None,
        leaf: Literal["constant", "linear"] | None = None,
        gains: int | None = None,
        seed: int = 0,
        teacher: str | None = None,
        direct: bool = False,
        start_from: str | PathLike[str] | None = None,
        derive: bool = False,
        worst_case: bool = False,
        env_kwargs: Mapping[str, Any] | None = None,
        features: Any = None,
        config: TrainConfig | str | PathLike[str] | None = None,
        overrides: Mapping[str, Any] | None = None,
        **unknown: Unpack[NothingElse],
    ) -> None:
        check_keywords(type(self), more, unknown)
        self.env, self.leaves, self.rules = env, leaves, rules
        self.leaf, self.gains, self.seed = leaf, gains, seed
        self.teacher, self.direct, self.start_from = teacher, direct, start_from
        self.derive, self.worst_case = derive, worst_case
        self.env_kwargs, self.features = env_kwargs, features
        self.config, self.overrides = config, overrides
        self.trained: Trained | None = None
        self._tree: CrispTree | None = None
        self._task: Task | None = None
        self._rounds = 0
        self._file: Path | None = None  # of the tree
        self._begun: Path | None = None  # the directory of a training that was stopped

    @property
    def tree(self) -> CrispTree:
        """The crisp tree; an error where nothing was learned yet."""
        if self._tree is None:
            raise CrisptreeError("the policy has learned nothing yet: call learn() or load a file")
        return self._tree

    def learn(
        self,
        total_timesteps: int | None = None,
        callback: Callback | Sequence[Callback] | None = None,
        progress_bar: bool = True,
        *,
        budget: float | None = None,
        quick: bool = False,
        episodes: int | None = None,
        out: str | PathLike[str] | None = None,
        track: Tracker | None = None,
        **unknown: Unpack[NothingElse],
    ) -> "TreePolicy":
        """Train for `total_timesteps`, for `budget` minutes, or `quick`: within a minute.

        Called again, it continues from the tree; a training that a callback stopped is resumed
        exactly where it was, with the budget it had. `callback` is a function, or a list of them,
        called with a dict after every update (`stage`, `total_step`, `return`, …); the training
        stops if one returns False. `out` is the directory of the run.
        """
        callbacks = callback if isinstance(callback, Sequence) else (callback,)
        if unknown:
            raise CrisptreeError(unknown_keyword(next(iter(unknown)), type(self).learn))
        for each in callbacks:
            check_callback(each)

        def on_progress(row: Row) -> None:
            said = [each(row) for each in callbacks if each is not None]
            if any(each is False for each in said):
                raise _StoppedByCallbackError

        task = self._environment()
        path, resume = self._begun, True
        if path is None or not (path / "config.json").exists():
            path = first_free(task.env_id or task.name) if out is None else Path(out)
            resume = False
        self._begun = path
        try:
            trained = train(
                task,
                **self._settings(),
                budget=budget,
                steps=total_timesteps,
                quick=quick,
                episodes=episodes,
                out=path,
                resume=resume,
                progress=progress_bar,
                on_progress=None if callback is None else on_progress,
                track=track,
            )
        except _StoppedByCallbackError:
            return self
        self._begun, self.trained, self._tree = None, trained, trained.tree
        self._file, self._rounds = Path(policy_path(trained.path)).absolute(), self._rounds + 1
        return self

    def _settings(self) -> dict[str, Any]:
        """What `train` is told; after the first time it begins with the tree that there is."""
        names = ("leaves", "rules", "leaf", "gains", "teacher", "direct", "start_from", "derive")
        names += ("worst_case", "config")
        settings = {name: getattr(self, name) for name in names}
        settings |= {"seed": self.seed + self._rounds, "overrides": dict(self.overrides or {})}
        if isinstance(self.features, str):
            settings["features"] = self.features
        if self._file is not None:
            settings |= {"start_from": self._file, "teacher": None, "direct": False}
        return settings

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = True,
    ) -> tuple[Any, Any]:
        """`(action, state)` for the environment's observation, or for a batch of plain ones.

        An observation that is no row of features (a Dict, a picture, one for a feature function)
        is made one first, as the environment's spaces say.
        """
        if self.features is None and self.tree.feature_function is None:
            is_plain = not isinstance(observation, Mapping)
            shape = list(np.shape(observation)) if is_plain else []
            if len(shape) in (1, 2) and shape[-1] == self.tree.n_features:
                return self.tree.predict(observation, state, episode_start, deterministic)
        return self.tree.predict(self._environment().observe(observation), state)

    def evaluate(self, episodes: int = 100, seed: int = 0) -> Score:
        """The score over unseen episodes of the environment."""
        return evaluate(self.tree, self._environment(), episodes=episodes, seed=seed)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the tree as a policy file, which NumPy alone can run."""
        self.tree.save(path)

    @classmethod
    def load(
        cls, path: str | PathLike[str], env: Env | Task | None = None, **settings: Any
    ) -> "TreePolicy":
        """The policy of a file, or of the directory of a run; `learn` goes on with it.

        `env` may be left out where the file names an environment that needs no import.
        """
        model = cls(env, **settings)
        model._tree, model._file = CrispTree.load(path), Path(policy_path(path)).absolute()
        if env is not None:
            check_fits(model._tree, model._environment())
        return model

    def _environment(self) -> Task:
        if self._task is None:
            kwargs = None if self.env_kwargs is None else dict(self.env_kwargs)
            if self.env is not None:
                self._task = task_of(self.env, kwargs, self.features)
            elif self._tree is not None:
                self._task = task_of_policy(self._tree, None, self.features)
            else:
                raise CrisptreeError("there is no environment to learn on: TreePolicy(env)")
        return self._task

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name."""
        return {name: getattr(self, name) for name in _names(type(self))}

    def set_params(self, **params: Any) -> "TreePolicy":
        """Change settings; what was learned stays."""
        for name, value in params.items():
            if name not in _names(type(self)):
                raise CrisptreeError(unknown_keyword(name, type(self)))
            setattr(self, name, value)
        self._task = None
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        given = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if name != "env" and value != defaults[name].default
        ]
        about = [self.env] if isinstance(self.env, str) else []
        words = [*map(repr, about), *given]
        if self._tree is not None:
            words.append(f"tree={self._tree!r}")
        return f"TreePolicy({', '.join(words)})"

    def _repr_html_(self) -> str | None:
        """A notebook's drawing of what was learned."""
        return None if self._tree is None else self._tree._repr_html_()


def _names(kind: type) -> list[str]:
    return [name for name in inspect.signature(kind).parameters if name not in ("more", "unknown")]
