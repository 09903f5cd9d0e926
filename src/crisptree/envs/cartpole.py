"""CartPole in JAX: step for step the physics of gymnasium's CartPole-v1.

Not of its sibling `phys2d/CartPole-v1`, which has another pole inertia.
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from crisptree.envs.cartpole_rows import (
    ANGLE_LIMIT,
    FIRST,
    FORCE,
    GRAVITY,
    HALF_POLE,
    MAX_STEPS,
    POLE_MASS,
    POSITION_LIMIT,
    SECONDS_PER_STEP,
    TOTAL_MASS,
)
from crisptree.envs.functional import TimeStep


class CartPoleState(NamedTuple):
    physics: Float[Array, "4"]
    time: Int[Array, ""]


@dataclass(frozen=True)
class CartPole:
    max_steps: int = MAX_STEPS
    n_agents: int = 1
    n_features: int = 4
    n_actions: int = 2

    def reset(self, key: Key[Array, ""]) -> tuple[CartPoleState, Float[Array, "4"]]:
        physics = jax.random.uniform(key, (4,), minval=-FIRST, maxval=FIRST)
        return CartPoleState(physics, jnp.zeros((), jnp.int32)), physics

    def step(self, key: Key[Array, ""], state: CartPoleState, action: Int[Array, ""]) -> TimeStep:
        del key  # the physics is deterministic
        _, velocity, angle, angular_velocity = state.physics
        force = jnp.where(action == 1, FORCE, -FORCE)
        cos, sin = jnp.cos(angle), jnp.sin(angle)
        pushed = (force + POLE_MASS * HALF_POLE * angular_velocity**2 * sin) / TOTAL_MASS
        angular_acceleration = (GRAVITY * sin - cos * pushed) / (
            HALF_POLE * (4.0 / 3.0 - POLE_MASS * cos**2 / TOTAL_MASS)
        )
        acceleration = pushed - POLE_MASS * HALF_POLE * angular_acceleration * cos / TOTAL_MASS
        physics = state.physics + SECONDS_PER_STEP * jnp.stack(
            [velocity, acceleration, angular_velocity, angular_acceleration]
        )
        time = state.time + 1
        fallen = (jnp.abs(physics[0]) > POSITION_LIMIT) | (jnp.abs(physics[2]) > ANGLE_LIMIT)
        return TimeStep(
            state=CartPoleState(physics, time),
            observation=physics,
            reward=jnp.ones(()),
            terminated=fallen,
            truncated=time >= self.max_steps,
        )
