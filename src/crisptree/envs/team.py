"""What a multi-agent environment offers beside `reset` and `step`: what its facades need.

The facades are `joint` (one gymnasium environment for the whole team), `joint_vector` (many of
them in one compiled call) and `pettingzoo` (one agent, one entry).
"""

from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, Protocol

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from crisptree.base.errors import CrisptreeError
from crisptree.envs.functional import FunctionalEnv, TimeStep


class TeamEnv(FunctionalEnv, Protocol):
    """Agents that share one policy and one reward: every row of `reward` is the team's."""

    agent_names: ClassVar[tuple[str, ...]]
    action_names: ClassVar[tuple[str, ...]]

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """The least and the greatest value of each feature, `(F,)`."""
        ...

    def draw(self, state: Any) -> np.ndarray:
        """A picture of the state, `(height, width, 3)` uint8."""
        ...


class Seat(NamedTuple):
    """An episode and the key from which the rest of it, and all later ones, follow."""

    key: Key[Array, ""]
    state: Any


@lru_cache(maxsize=16)
def compiled(env: TeamEnv):
    """`begin(key)` and `go_on(seat, action)`: compiled once for all facades of this environment."""

    def begin(key: Key[Array, ""]) -> tuple[Seat, Float[Array, "A F"]]:
        key, for_reset = jax.random.split(key)
        state, observation = env.reset(for_reset)
        return Seat(key, state), observation

    def go_on(seat: Seat, action: Int[Array, " A"]) -> tuple[Seat, TimeStep]:
        key, for_step = jax.random.split(seat.key)
        at = env.step(for_step, seat.state, action)
        return Seat(key, at.state), at

    def go_on_or_begin(
        seat: Seat, over: Bool[Array, ""], action: Int[Array, " A"]
    ) -> tuple[Seat, TimeStep]:
        """A step, or, where the episode was over before it, only a fresh start."""
        stepped, at = go_on(seat, action)
        fresh, observation = begin(seat.key)
        started = TimeStep(
            fresh.state,
            observation,
            jnp.zeros_like(at.reward),
            jnp.zeros_like(at.terminated),
            jnp.zeros_like(at.truncated),
        )
        # Both splits of the key are the same one, so the key needs no choice.
        at = jax.tree.map(lambda a, b: jnp.where(over, a, b), started, at)
        return Seat(stepped.key, at.state), at

    return (
        jax.jit(begin),
        jax.jit(go_on),
        jax.jit(jax.vmap(begin)),
        jax.jit(jax.vmap(go_on_or_begin)),
    )


def seed_key(rng: np.random.Generator) -> Key[Array, ""]:
    return jax.random.key(int(rng.integers(2**32)))


def observation_space(env: TeamEnv, *lead: int) -> gym.spaces.Box:
    low, high = env.bounds()
    return gym.spaces.Box(
        np.broadcast_to(low, (*lead, env.n_features)).astype(np.float32),
        np.broadcast_to(high, (*lead, env.n_features)).astype(np.float32),
    )


def checked_actions(env: TeamEnv, action: Any, shape: tuple[int, ...]) -> np.ndarray:
    """The actions as int32, or a refusal that says what is wrong with them."""
    array = np.asarray(action)
    if array.shape != shape or array.dtype.kind not in "iu":
        raise CrisptreeError(
            f"actions must be integers of shape {shape}, not {array.dtype} of shape {array.shape}"
        )
    wrong = array[(array < 0) | (array >= env.n_actions)]
    if wrong.size:
        known = ", ".join(f"{i} {name}" for i, name in enumerate(env.action_names))
        raise CrisptreeError(f"no action {wrong[0]}; the actions are {known}")
    return array.astype(np.int32)
