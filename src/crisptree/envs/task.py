"""What a policy needs to know of an environment. No JAX here.

`task_of` makes a `Task` of whatever a user names or gives; `task_of_policy` of what a policy file
says, without ever importing a module that only the file names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import gymnasium as gym
import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.base.text import printable
from crisptree.crisp import CrispTree
from crisptree.crisp.derived import n_observed
from crisptree.crisp.signature import Actions, Feature
from crisptree.envs.action_spaces import actions_of, environment_actions, team_actions
from crisptree.envs.encoder import SpaceEncoder
from crisptree.envs.feature_function import FeatureFunction, FunctionEncoder
from crisptree.envs.guard import guarded, misbehaved
from crisptree.envs.levels import Levels
from crisptree.envs.names import names_of
from crisptree.envs.source import SUITES, Env, EnvSource, source_of
from crisptree.envs.spaces import encoder_of


@dataclass(frozen=True)
class Task:
    """An environment as a policy sees it: named features in, actions out."""

    source: EnvSource
    features: tuple[Feature, ...]
    actions: Actions
    """One agent's, of a team."""
    n_agents: int | None = None
    """How many agents share one policy, each with a row of features; None where there is no
    team."""
    max_steps: int | None = None
    """The environment's own time limit, where it has one."""
    encoder: SpaceEncoder | FunctionEncoder = field(repr=False, compare=False, kw_only=True)
    scalar_action: bool = field(default=False, repr=False, kw_only=True)
    """Whether the environment's action is a single number, not an array."""
    levels: Levels | None = field(default=None, repr=False, kw_only=True)
    """Where a policy chooses among a few values of real actions: which."""

    @property
    def env_id(self) -> str | None:
        """What a policy file says of the environment; None where only this program knows it."""
        return self.source.env_id

    @property
    def env_kwargs(self) -> Mapping[str, Any]:
        """What a policy file says of the environment's arguments."""
        return self.source.kwargs if self.env_id is not None else {}

    @property
    def name(self) -> str:
        """The environment's name in messages."""
        return self.source.name

    @property
    def n_features(self) -> int:
        """Numbers of an observation; derived features are not counted."""
        return n_observed(self.features)

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(feature.name for feature in self.features)

    @property
    def action_names(self) -> tuple[str, ...]:
        return self.actions.names

    @property
    def n_actions(self) -> int:
        """How many actions there are; parts or dimensions where they are not discrete."""
        return len(self.actions.names)

    @property
    def signature(self) -> dict[str, Any]:
        """What a crisp tree for this task is made with, besides its arrays."""
        return {
            "features": self.features,
            "actions": self.actions,
            "env_id": self.env_id,
            "env_kwargs": dict(self.env_kwargs),
            "feature_function": self.source.feature_function,
        }

    @property
    def given_actions(self) -> Actions:
        """The actions as the environment takes them."""
        return self.actions if self.levels is None else self.levels.actions

    @property
    def n_rows(self) -> int:
        """Rows of features in one observation: 1, or one per agent."""
        return self.n_agents or 1

    def make(self, **options: Any) -> gym.Env:
        """A new environment, as it comes."""
        return self.source.make(**options)

    def observe(self, observation: Any) -> np.ndarray:
        """The features of one raw observation: `(F,)` float32, or `(agents, F)` of a team."""
        rows = self.encoder([observation])
        return rows if self.n_agents is not None else rows[0]

    def observe_batch(self, observations: Sequence[Any] | np.ndarray) -> np.ndarray:
        """The features of several raw observations, `(n, F)`; a row for each agent of a team."""
        return self.encoder(observations)

    def environment_actions(self, chosen: np.ndarray) -> list[Any]:
        """What to give to n environments, from the policy's actions in n rows (n·agents of a
        team)."""
        if self.n_agents is not None:
            return list(np.asarray(chosen, np.int64).reshape(-1, self.n_agents))
        if self.levels is not None:
            chosen = self.levels.values(np.asarray(chosen))
        given = environment_actions(self.given_actions, chosen)
        return [each.reshape(()) for each in given] if self.scalar_action else given


def task_of(
    env: "Env | Task | EnvSource",
    env_kwargs: Mapping[str, Any] | None = None,
    features: FeatureFunction | str | None = None,
) -> Task:
    """The task behind an id, `module:Id`, `module:callable`, `gymnax:Id`, `brax:Id`, an
    environment object or a factory; a refusal in one line where a policy cannot learn on it.

    `features` is a function from an observation to named numbers, or `module:function`.
    """
    if isinstance(env, Task):
        if env_kwargs or features is not None:
            raise CrisptreeError("a Task has its env_kwargs and features already")
        return env
    source = env if isinstance(env, EnvSource) else source_of(env, env_kwargs, features)
    return _described(source)


def task_of_policy(
    policy: Any,
    env: "Env | Task | None" = None,
    features: FeatureFunction | str | None = None,
) -> Task:
    """The task that a policy was made for: the one its file names, unless the caller gives another.

    A file never gets code imported: the caller must give `module:Id` and `module:function`. The
    sizes of policy and task must agree.
    """
    named, function = _text_of(policy, "env_id"), _text_of(policy, "feature_function")
    kwargs = getattr(policy, "env_kwargs", None) or {}
    if env is None:
        if named is None:
            raise CrisptreeError("the policy does not name its environment: give one with --env")
        if ":" in named and named.partition(":")[0] not in SUITES:
            raise CrisptreeError(
                f"the policy names '{printable(named)}', and a policy file never makes crisptree "
                f"import a module: if you trust it, say --env {printable(named)}"
            )
        env = named
    if features is None and function is not None and not isinstance(env, Task):
        shown = printable(function)
        raise CrisptreeError(
            f"the policy reads features made by '{shown}', and a policy file never makes crisptree "
            f"import a module: if you trust it, say --features {shown}"
        )
    same = isinstance(env, str) and env == named
    task = _as_seen_by(policy, task_of(env, kwargs if same else None, features))
    check_fits(policy, task)
    return task


def _as_seen_by(policy: Any, task: Task) -> Task:
    """The task with the features that a tree names, where it names some of the task's: a file may
    be older than a way to describe a space."""
    names = getattr(policy, "feature_names", ())
    has_fewer = isinstance(policy, CrispTree) and policy.n_features < task.n_features
    if not has_fewer or not isinstance(task.encoder, SpaceEncoder):
        return task
    encoder = task.encoder.only(names[: policy.n_features])
    return task if encoder is None else replace(task, features=encoder.features, encoder=encoder)


def _text_of(policy: Any, attribute: str) -> str | None:
    found = getattr(policy, attribute, None)
    return found if isinstance(found, str) else None


def check_fits(policy: Any, task: Task) -> None:
    """Refuse a policy whose numbers of features or actions are not the task's."""
    for what in ("features", "actions"):
        has, needs = getattr(policy, f"n_{what}", None), getattr(task, f"n_{what}")
        if isinstance(has, int) and has != needs:
            raise CrisptreeError(f"the policy has {has} {what}, '{task.name}' has {needs}")
    own = getattr(policy, "actions", None)
    if isinstance(own, Actions) and own.kind != task.actions.kind:
        raise CrisptreeError(
            f"the policy has {own.kind} actions, '{task.name}' has {task.actions.kind} ones"
        )


def _described(source: EnvSource) -> Task:
    env = source.make()
    try:
        return _task_of_env(env, source)
    finally:
        with guarded(source.name, "close"):
            env.close()


def _task_of_env(env: gym.Env, source: EnvSource) -> Task:
    with guarded(source.name, "the description of its spaces"):
        seen, done = env.observation_space, env.action_space
        names = names_of(env, source.env_id, source.name)
        n_agents, limit = team_size(env), _time_limit(env)
    for what, space in (("observation", seen), ("action", done)):
        if not isinstance(space, gym.Space):
            raise misbehaved(
                source.name, f"has no {what}_space of gymnasium's but {type(space).__name__}"
            )
    if source.features is not None:
        with guarded(source.name, "reset"):
            example, _ = env.reset(seed=0)
        encoder = FunctionEncoder(source.features, source.name, example, n_agents)
    else:
        encoder = encoder_of(seen, source.name, names, n_agents)
    if n_agents is None:
        actions = actions_of(done, source.name, names)
    else:
        assert isinstance(done, gym.spaces.MultiDiscrete)
        actions = team_actions(done, source.name, names)
    return Task(
        source,
        encoder.features,
        actions,
        n_agents,
        limit,
        encoder=encoder,
        scalar_action=isinstance(done, gym.spaces.Box) and done.shape == (),
    )


def _time_limit(env: gym.Env) -> int | None:
    """The steps after which gymnasium truncates, or the environment itself by its metadata."""
    by_metadata = (env.metadata or {}).get("max_steps")
    for given in (getattr(env.spec, "max_episode_steps", None), by_metadata):
        if isinstance(given, int) and given > 0:
            return given
    return None


def team_size(env: gym.Env) -> int | None:
    """How many agents share one policy in this environment; None where it is not a team.

    A team has observations `(agents, features)` and one Discrete action per agent, all alike. An
    environment with such spaces that is no team says `"n_agents": None` in its metadata.
    """
    if "n_agents" in (env.metadata or {}) and env.metadata["n_agents"] in (None, 1):
        return None
    seen, done = env.observation_space, env.action_space
    if not isinstance(done, gym.spaces.MultiDiscrete) or done.nvec.ndim != 1:
        return None
    alike = bool((done.nvec == done.nvec[0]).all()) and not np.any(done.start)
    shape = seen.shape or ()
    is_team = isinstance(seen, gym.spaces.Box) and len(shape) == 2 and shape[0] == len(done.nvec)
    return len(done.nvec) if alike and is_team else None
