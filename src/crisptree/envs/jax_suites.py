"""Suites of JAX environments, `gymnax:CartPole-v1` or `brax:ant`: one adapter for all of them.

A suite's environment becomes a `Simulator`: pure functions on its own observations. From it come
the gymnasium environment that is scored (`SuiteEnv`) and the functional environment that learners
compile (`SuiteTwin`), which has the same episodes.
"""

import importlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.utils.seeding import np_random
from jaxtyping import Array, Float, Key

from crisptree.base.errors import CrisptreeError
from crisptree.base.text import printable
from crisptree.crisp.signature import Actions
from crisptree.envs.encoder import SpaceEncoder
from crisptree.envs.functional import TimeStep
from crisptree.envs.guard import guarded
from crisptree.envs.levels import Levels
from crisptree.envs.seeded_episodes import EpisodeState, compiled, seed_key

BRAX_STEPS = 1000
"""Steps of a brax episode, as its own trainers take."""


@dataclass(frozen=True, eq=False)
class Functions:
    """A suite's environment as functions; `step` leads to a `TimeStep` with a raw observation."""

    observation_space: gym.Space
    action_space: gym.Space
    max_steps: int
    reset: Callable[[Any], tuple[Any, Any]]
    step: Callable[[Any, Any, Any], TimeStep]


@dataclass(frozen=True)
class Simulator:
    """An environment of a suite by name; two of the same name are equal."""

    suite: str
    env_id: str
    arguments: str = "{}"
    """Keyword arguments as JSON."""
    n_agents: int = 1

    @property
    def functions(self) -> Functions:
        return _functions(self.suite, self.env_id, self.arguments)

    def reset(self, key: Key[Array, ""]) -> tuple[Any, Any]:
        return self.functions.reset(key)

    def step(self, key: Key[Array, ""], state: Any, action: Any) -> TimeStep:
        return self.functions.step(key, state, action)


class SuiteEnv(gym.Env):
    """An environment of a suite as gymnasium's."""

    def __init__(self, simulator: Simulator) -> None:
        self.simulator = simulator
        functions = simulator.functions
        self.observation_space = functions.observation_space
        self.action_space = functions.action_space
        self.metadata = {"render_modes": [], "max_steps": functions.max_steps}
        self._compiled = compiled(simulator)
        self._episode: EpisodeState | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """A fresh episode; without a seed it follows from the one before."""
        super().reset(seed=seed)
        if seed is not None or self._episode is None:
            key = seed_key(np_random(seed)[0])
        else:
            key = self._episode.key
        self._episode, observation = self._compiled.begin(key)
        return jax.device_get(observation), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if self._episode is None:
            raise gym.error.ResetNeeded("no episode is under way: call reset() before step()")
        self._episode, at = self._compiled.advance(self._episode, jnp.asarray(action))
        terminated = bool(at.terminated)
        truncated = bool(at.truncated) and not terminated
        return jax.device_get(at.observation), float(at.reward), terminated, truncated, {}


@dataclass(frozen=True)
class SuiteTwin:
    """The functional environment: the task's features in, the policy's own actions out."""

    simulator: Simulator
    encoder: SpaceEncoder
    actions: Actions
    levels: Levels | None = None
    n_agents: int = 1

    @property
    def n_features(self) -> int:
        return len(self.encoder.features)

    def reset(self, key: Key[Array, ""]) -> tuple[Any, Float[Array, " F"]]:
        state, observation = self.simulator.reset(key)
        return state, self._features(observation)

    def step(self, key: Key[Array, ""], state: Any, action: Array) -> TimeStep:
        given = self.actions
        if self.levels is not None:
            given = self.levels.actions
            action = jnp.asarray(self.levels.table)[jnp.arange(len(action)), action]
        if given.kind == "box":
            shape = given.shape or (given.n_values,)
            action = jnp.clip(action, jnp.array(given.low), jnp.array(given.high))
            action = action.reshape(shape).astype(given.dtype)
        at = self.simulator.step(key, state, action)
        return at._replace(observation=self._features(at.observation))

    def _features(self, observation: Any) -> Float[Array, " F"]:
        """As `SpaceEncoder` makes them, in JAX."""
        parts = []
        for part in self.encoder.parts:
            found = observation
            for key in part.path:
                found = found[key]
            parts.append(jnp.ravel(found).astype(jnp.float32))
        values = jnp.concatenate(parts)
        if self.encoder.source is None or self.encoder.equals is None:
            return values
        rows = values[self.encoder.source]
        flags = (rows == self.encoder.equals).astype(jnp.float32)
        return jnp.where(np.isnan(self.encoder.equals), rows, flags)


def make_of_suite(suite: str, env_id: str, **kwargs: Any) -> SuiteEnv:
    """The gymnasium environment behind `gymnax:Id` or `brax:Id`."""
    kwargs.pop("render_mode", None)  # none of them draws
    return SuiteEnv(Simulator(suite, env_id, json.dumps(kwargs, sort_keys=True)))


def twin_of_suite(
    suite: str,
    env_id: str,
    kwargs: dict[str, Any],
    encoder: SpaceEncoder,
    actions: Actions,
    levels: Levels | None = None,
) -> SuiteTwin:
    """The functional environment behind `gymnax:Id` or `brax:Id`."""
    simulator = Simulator(suite, env_id, json.dumps(kwargs, sort_keys=True))
    return SuiteTwin(simulator, encoder, actions, levels)


@lru_cache(maxsize=16)
def _functions(suite: str, env_id: str, arguments: str) -> Functions:
    build = {"gymnax": _gymnax, "brax": _brax}[suite]
    try:
        package = importlib.import_module({"gymnax": "gymnax", "brax": "brax.envs"}[suite])
    except ImportError as error:
        raise CrisptreeError(
            f"{suite}:{printable(env_id)} needs {error.name or suite}: "
            f"pip install 'crisptree[{suite}]'"
        ) from error
    return build(package, env_id, json.loads(arguments))


def _gymnax(gymnax: Any, env_id: str, kwargs: dict[str, Any]) -> Functions:
    """Arguments that name a field of the environment's parameters go there."""
    if env_id not in gymnax.registered_envs:
        raise CrisptreeError(
            f"gymnax has no '{printable(env_id)}'; it has {', '.join(gymnax.registered_envs)}"
        )
    fields = set(type(gymnax.make(env_id)[1]).__dataclass_fields__)
    own = {key: value for key, value in kwargs.items() if key not in fields}
    with guarded(f"gymnax:{env_id}", "its making"):
        env, params = gymnax.make(env_id, **own)
        params = params.replace(**{key: kwargs[key] for key in kwargs if key in fields})
        convert = importlib.import_module("gymnax.environments.spaces").gymnax_space_to_gym_space
        seen = convert(env.observation_space(params))
        done = convert(env.action_space(params))

    def reset(key: Any) -> tuple[Any, Any]:
        observation, state = env.reset_env(key, params)
        return state, observation

    def step(key: Any, state: Any, action: Any) -> TimeStep:
        observation, state, reward, terminated, _ = env.step_env(key, state, action, params)
        truncated = jnp.asarray(env.is_truncated(state, params))
        reward = jnp.asarray(reward, jnp.float32).reshape(())
        return TimeStep(state, observation, reward, jnp.asarray(terminated, bool), truncated)

    return Functions(seen, done, int(params.max_steps_in_episode), reset, step)


def _brax(envs: Any, env_id: str, kwargs: dict[str, Any]) -> Functions:
    """`episode_length` is 1,000 as brax's trainers take it; other arguments are the class's."""
    known = sorted(envs._envs)
    if env_id not in known:
        raise CrisptreeError(f"brax has no '{printable(env_id)}'; it has {', '.join(known)}")
    length = int(kwargs.pop("episode_length", BRAX_STEPS))
    with guarded(f"brax:{env_id}", "its making"):
        env = envs.get_environment(env_id, **kwargs)
    seen = gym.spaces.Box(-np.inf, np.inf, (env.observation_size,), np.float32)
    # Whatever the actuators' ranges are, brax's environments take -1 to 1.
    done = gym.spaces.Box(-1.0, 1.0, (env.action_size,), np.float32)

    def reset(key: Any) -> tuple[Any, Any]:
        state = env.reset(key)
        return (state, jnp.zeros((), jnp.int32)), state.obs

    def step(key: Any, state: Any, action: Any) -> TimeStep:
        inner, time = state
        inner, time = env.step(inner, action), time + 1
        # Some environments write plain numbers where their reset gives arrays.
        reward, done = (jnp.asarray(each, jnp.float32) for each in (inner.reward, inner.done))
        inner = inner.replace(reward=reward, done=done)
        return TimeStep((inner, time), inner.obs, reward, done > 0.5, time >= length)

    return Functions(seen, done, length, reset, step)
