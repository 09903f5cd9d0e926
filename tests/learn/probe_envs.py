"""Environments so small that their values, updates and rollouts are known exactly."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from crisptree.crisp.signature import Actions
from crisptree.envs.functional import TimeStep

TWO_ACTIONS = Actions.discrete(("zero", "one"))
FORCE = Actions.box(("force",), (-2.0,), (2.0,))
SIDE_AND_GEAR = Actions.multi_discrete(
    ("side", "gear"), (("left", "right"), ("low", "middle", "high"))
)


class ProbeState(NamedTuple):
    kind: jax.Array
    time: jax.Array
    hint: jax.Array


CONSTANT, ENDLESS, LATE, TOLD, ASKED = range(5)


@dataclass(frozen=True)
class Probes:
    """Five environments in one, told apart by the observation; so one program learns them all.

    CONSTANT: one step, reward 1, terminated. The value is 1.
    ENDLESS: one step, reward 1, truncated, over and over: the value is 1 / (1 - γ).
    LATE: two steps, reward 1 for the second: the values are γ and 1.
    TOLD: one step, the reward is the hint (-1 or 1), and so is the value.
    ASKED: one step, reward 1 for action 1 where the hint is 1 and for action 0 otherwise, else -1.
    """

    n_agents: int = 1
    n_features: int = 7
    actions: Actions = TWO_ACTIONS

    def reset(self, key):
        for_kind, for_hint = jax.random.split(key)
        hint = jnp.where(jax.random.bernoulli(for_hint), 1.0, -1.0)
        state = ProbeState(jax.random.randint(for_kind, (), 0, 5), jnp.zeros((), jnp.int32), hint)
        return state, observed(state)

    def step(self, key, state, action):
        kind = state.kind
        last = state.time == 1
        right = (action == 1) == (state.hint > 0)
        reward = jnp.select(
            [kind == LATE, kind == TOLD, kind == ASKED],
            [jnp.where(last, 1.0, 0.0), state.hint, jnp.where(right, 1.0, -1.0)],
            1.0,
        )
        # the observation ENDLESS is truncated at is the one it started from
        state = state._replace(time=jnp.where(kind == LATE, state.time + 1, 0))
        terminated = (kind != ENDLESS) & ((kind != LATE) | last)
        return TimeStep(state, observed(state), reward, terminated, kind == ENDLESS)


def observed(state: ProbeState) -> jax.Array:
    rest = jnp.stack([state.time.astype(jnp.float32), state.hint])
    return jnp.concatenate([jax.nn.one_hot(state.kind, 5), rest])


@dataclass(frozen=True)
class ThreeStates:
    """A Markov decision process of three states, two actions and at most three steps."""

    n_agents: int = 1
    n_features: int = 3
    actions: Actions = TWO_ACTIONS
    horizon: int = 3

    def reset(self, key):
        state = jax.random.choice(key, 3, p=jnp.asarray(START)), jnp.zeros((), jnp.int32)
        return state, jnp.asarray(SEEN)[state[0]]

    def step(self, key, state, action):
        at, time = state
        for_move, for_end = jax.random.split(key)
        following = jax.random.choice(for_move, 3, p=jnp.asarray(MOVES)[at, action])
        ended = jax.random.bernoulli(for_end, jnp.asarray(ENDS)[at, action])
        return TimeStep(
            state=(following, time + 1),
            observation=jnp.asarray(SEEN)[following],
            reward=jnp.asarray(REWARDS)[at, action],
            terminated=ended | (time + 1 >= self.horizon),
            truncated=jnp.asarray(False),
        )


START = np.array([0.6, 0.4, 0.0], np.float32)
SEEN = np.array([[1.0, 0.5, 0.0], [-1.0, 2.0, 0.2], [0.3, -1.5, -1.0]], np.float32)
MOVES = np.array(
    [
        [[0.1, 0.6, 0.3], [0.5, 0.0, 0.5]],
        [[0.2, 0.2, 0.6], [0.9, 0.1, 0.0]],
        [[0.3, 0.3, 0.4], [0.0, 0.5, 0.5]],
    ],
    np.float32,
)
ENDS = np.array([[0.0, 0.3], [0.5, 0.1], [0.2, 0.0]], np.float32)
REWARDS = np.array([[1.0, -0.5], [0.25, 2.0], [-1.0, 0.75]], np.float32)


@dataclass(frozen=True)
class Lifeboat:
    """Three agents; the one numbered i dies with its step `lives[i]`, and the clock stops all.

    The reward of agent i at time t is 10 i + t; an observation is (i, t, episode's own number).
    """

    lives: tuple[int, int, int] = (1, 3, 2)
    max_steps: int = 10
    n_agents: int = 3
    n_features: int = 3
    actions: Actions = TWO_ACTIONS

    def _observed(self, time, number):
        agents = jnp.arange(3.0)
        return jnp.stack([agents, jnp.full(3, time, jnp.float32), jnp.full(3, number)], 1)

    def reset(self, key):
        number, time = jax.random.uniform(key), jnp.zeros((), jnp.int32)
        return (time, number), self._observed(time, number)

    def step(self, key, state, action):
        time, number = state
        reward = 10 * jnp.arange(3.0) + time
        time = time + 1
        return TimeStep(
            state=(time, number),
            observation=self._observed(time, number),
            reward=reward,
            terminated=time >= jnp.asarray(self.lives),
            truncated=time >= self.max_steps,
        )


@dataclass(frozen=True)
class Targets:
    """One step; the reward is minus the squared distance of the action from its target.

    The target is 0.5 where the observation is positive, else -1.5; actions lie within ±2. It may be
    learned by two constant leaves.
    """

    n_agents: int = 1
    n_features: int = 1
    actions: Actions = FORCE

    def reset(self, key):
        seen = jnp.where(jax.random.bernoulli(key), 1.0, -1.0)[None]
        return seen, seen

    def step(self, key, state, action):
        del key
        reward = -jnp.square(action[0] - jnp.where(state[0] > 0, 0.5, -1.5))
        return TimeStep(state, state, reward, jnp.asarray(True), jnp.asarray(False))


@dataclass(frozen=True)
class Pairs:
    """One step, two choices at once: right if the first is as the observation says and the second
    is 2 of 0, 1, 2."""

    n_agents: int = 1
    n_features: int = 1
    actions: Actions = SIDE_AND_GEAR

    def reset(self, key):
        seen = jnp.where(jax.random.bernoulli(key), 1.0, -1.0)[None]
        return seen, seen

    def step(self, key, state, action):
        del key
        reward = jnp.where((action[0] == 1) == (state[0] > 0), 1.0, 0.0) + (action[1] == 2)
        return TimeStep(state, state, reward, jnp.asarray(True), jnp.asarray(False))
