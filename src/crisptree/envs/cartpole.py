"""CartPole in JAX: step for step the physics of gymnasium's CartPole-v1.

Not of its sibling `phys2d/CartPole-v1`, which has another pole inertia.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from crisptree.crisp.signature import Actions
from crisptree.envs.functional import TimeStep

GRAVITY = 9.8
POLE_MASS = 0.1
CART_MASS = 1.0
TOTAL_MASS = CART_MASS + POLE_MASS
HALF_POLE = 0.5
FORCE = 10.0
SECONDS_PER_STEP = 0.02
POSITION_LIMIT = 2.4
ANGLE_LIMIT = 12 * 2 * math.pi / 360
MAX_STEPS = 500
FIRST = 0.05
"""How far from 0 an episode may start, in every number of its state."""


class CartPoleState(NamedTuple):
    physics: Float[Array, "4"]
    time: Int[Array, ""]


@dataclass(frozen=True)
class CartPole:
    max_steps: int = MAX_STEPS
    n_agents: int = 1
    n_features: int = 4

    @property
    def actions(self) -> Actions:
        return Actions.discrete(("push left", "push right"))

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
