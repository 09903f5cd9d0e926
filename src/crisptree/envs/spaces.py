"""What crisptree can learn on: Box observations, Discrete actions. No JAX here."""

import warnings
from dataclasses import dataclass

import gymnasium as gym

from crisptree.envs.names import action_names, feature_names
from crisptree.errors import CrisptreeError

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
        if not isinstance(done, gym.spaces.Discrete):
            raise CrisptreeError(
                f"'{env_id}' has {type(done).__name__} actions; crisptree needs Discrete ones"
            )
        n_features, n_actions = flat_size(env), int(done.n)
        return Task(
            env_id,
            n_features,
            n_actions,
            feature_names(env_id, n_features),
            action_names(env_id, n_actions),
        )
    finally:
        env.close()
