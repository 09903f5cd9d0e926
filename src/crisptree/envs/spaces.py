"""What crisptree can learn on: Box observations, Discrete actions. No JAX here."""

import importlib
import warnings
from dataclasses import dataclass

import gymnasium as gym
import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.envs.names import action_names, feature_names

MOST_FEATURES = 4096


@dataclass(frozen=True)
class Task:
    """What a policy needs to know of an environment."""

    env_id: str
    n_features: int
    n_actions: int
    feature_names: tuple[str, ...]
    action_names: tuple[str, ...]


def make(env_id: str, **options) -> gym.Env:
    """`gymnasium.make` with errors a user can act on. `module:Id` imports the module first."""
    if env_id.startswith("crisptree/"):
        importlib.import_module("crisptree.envs.gym_registration")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return gym.make(env_id, **options)
    except gym.error.Error as error:
        raise CrisptreeError(f"no environment '{env_id}': {error}") from error
    except ImportError as error:
        raise CrisptreeError(f"environment '{env_id}' needs a package: {error}") from error


def flat_size(env: gym.Env) -> int:
    shape = env.observation_space.shape
    assert shape is not None
    size = 1
    for length in shape:
        size *= length
    return size


def team_size(env: gym.Env) -> int | None:
    """How many agents share one policy in this environment: one row of the observation each.

    None where the environment is not a team: `(agents, features)` in, one action an agent out.
    """
    seen, done = env.observation_space, env.action_space
    if not isinstance(done, gym.spaces.MultiDiscrete) or done.nvec.ndim != 1:
        return None
    alike = bool((done.nvec == done.nvec[0]).all()) and not np.any(done.start)
    shape = seen.shape or ()
    return len(done.nvec) if alike and len(shape) == 2 and shape[0] == len(done.nvec) else None


def describe(env_id: str) -> Task:
    """The task behind an id, or a clear refusal."""
    env = make(env_id)
    try:
        seen, done = env.observation_space, env.action_space
        if not isinstance(seen, gym.spaces.Box):
            raise CrisptreeError(
                f"'{env_id}' has {type(seen).__name__} observations; crisptree needs a Box "
                "(gymnasium.wrappers.FlattenObservation makes one of a Dict or Tuple)"
            )
        if flat_size(env) > MOST_FEATURES:
            raise CrisptreeError(
                f"'{env_id}' has {flat_size(env):,} numbers an observation, as pictures have; "
                f"a readable tree needs features (at most {MOST_FEATURES:,})"
            )
        n_agents = team_size(env)
        if n_agents is None and not isinstance(done, gym.spaces.Discrete):
            raise CrisptreeError(
                f"'{env_id}' has {type(done).__name__} actions; crisptree needs Discrete ones"
            )
        n_features = flat_size(env) // (n_agents or 1)
        assert isinstance(done, gym.spaces.Discrete | gym.spaces.MultiDiscrete)
        n_actions = int(done.n if isinstance(done, gym.spaces.Discrete) else done.nvec[0])
        return Task(
            env_id,
            n_features,
            n_actions,
            _own_names(env, "feature_names", n_features) or feature_names(env_id, n_features),
            _own_names(env, "action_names", n_actions) or action_names(env_id, n_actions),
        )
    finally:
        env.close()


def _own_names(env: gym.Env, what: str, count: int) -> tuple[str, ...] | None:
    """The names an environment gives in its metadata, which a tree is then read in."""
    names = env.metadata.get(what)
    if names is None:
        return None
    given = tuple(map(str, names))
    if len(set(given)) != count or len(given) != count:
        raise CrisptreeError(
            f"the metadata of '{env.spec.id if env.spec else env}' give {len(given)} {what}; "
            f"it needs {count}, no two alike"
        )
    return given
