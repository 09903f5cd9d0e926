"""Two drones keep over two wildfires that cross the map from south-east to north-west (§6.2).

The map has x east and y north, in pixels. Both drones run the same policy; each sees only where
the fires are from where it is. The paper fixes the map, the observation, the actions and the
reward, not the speeds nor the length of an episode: the defaults here are a calibration under
which simple policies score as the paper's table says they should.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from crisptree.envs.functional import TimeStep
from crisptree.envs.wildfire.farsite import advance
from crisptree.envs.wildfire.names import ACTION_NAMES, FEATURE_NAMES

EAST_OF_ACTION = (0.0, 1.0, 0.0, -1.0, 0.0)
NORTH_OF_ACTION = (1.0, 0.0, -1.0, 0.0, 0.0)


class WildfireState(NamedTuple):
    drones: Float[Array, "2 2"]
    """Drone by (x, y)."""
    fronts: Float[Array, "2 2 points"]
    """Fire by (x, y) by point of the front."""
    steps: Int[Array, ""]


@dataclass(frozen=True)
class Wildfire:
    """The environment. An episode has a fixed length, so it is only ever truncated.

    An observation row is, for each fire, how far north and west its centroid lies of the drone in
    pixels (negative: south, east) and a flag, 0 or 1. The reward is the team's, the same in every
    row (Eq. 16). An action id outside 0…4 does nothing. Steps past the horizon go on, still
    `truncated`.
    """

    map_side: float = 500.0
    horizon: int = 120
    drone_step: float = 5.0
    """Pixels a drone flies in one step."""
    spread_rate: float = 8.0
    """Mean R; each point of a front draws from U(0, 2R) at every step."""
    wind: float = 5.0
    """Mean U in metres a second; each fire draws its own at every step."""
    wind_deviation: float = 1.0
    azimuth: float = 315.0
    """Degrees clockwise from north; 315 is north-west."""
    azimuth_deviation: float = 0.2
    """Radians; each fire draws its own azimuth at every step."""
    front_points: int = 20
    front_radius: float = 10.0
    """Pixels; a fire starts as a ring somewhere in the south-east quadrant."""
    flags: Literal["fire", "drone"] = "fire"
    """What "closest to fire i" says: "fire", of the two fires, i is the closer to this drone;
    "drone", of the two drones, this one is the closer to fire i."""

    feature_names: ClassVar[tuple[str, ...]] = FEATURE_NAMES
    action_names: ClassVar[tuple[str, ...]] = ACTION_NAMES

    @property
    def n_agents(self) -> int:
        return 2

    @property
    def n_features(self) -> int:
        return len(FEATURE_NAMES)

    @property
    def n_actions(self) -> int:
        return len(ACTION_NAMES)

    def reset(self, key: Key[Array, ""]) -> tuple[WildfireState, Float[Array, "2 6"]]:
        places = jax.random.uniform(key, (4, 2))
        drones = places[:2] * self.map_side
        half = self.map_side / 2
        ignitions = places[2:] * half + jnp.array([half, 0.0])
        turns = 2 * np.pi * np.arange(self.front_points) / self.front_points
        ring = (self.front_radius * np.stack([np.sin(turns), np.cos(turns)])).astype(np.float32)
        fronts = jnp.clip(ignitions[:, :, None] + ring, 0.0, self.map_side)
        state = WildfireState(drones, fronts, jnp.int32(0))
        return state, self.observe(state)

    def step(self, key: Key[Array, ""], state: WildfireState, action: Int[Array, " 2"]) -> TimeStep:
        state = WildfireState(
            self._fly(state.drones, action), self._burn(key, state.fronts), state.steps + 1
        )
        return TimeStep(
            state=state,
            observation=self.observe(state),
            reward=jnp.broadcast_to(self.reward(state), (2,)),
            terminated=jnp.zeros(2, bool),
            truncated=state.steps >= self.horizon,
        )

    def _fly(self, drones: Float[Array, "2 2"], action: Int[Array, " 2"]) -> Float[Array, "2 2"]:
        chosen = action[:, None] == jnp.arange(len(ACTION_NAMES))
        headings = jnp.stack([jnp.array(EAST_OF_ACTION), jnp.array(NORTH_OF_ACTION)], axis=1)
        move = jnp.sum(jnp.where(chosen[:, :, None], headings, 0.0), axis=1)
        return jnp.clip(drones + self.drone_step * move, 0.0, self.map_side)

    def _burn(
        self, key: Key[Array, ""], fronts: Float[Array, "2 2 points"]
    ) -> Float[Array, "2 2 points"]:
        # One draw on (-1, 1) serves fuel and wind: random bits are what a step costs.
        noise = jax.random.uniform(
            key, (2, self.front_points + 2), minval=np.nextafter(np.float32(-1), 0), maxval=1.0
        )
        spread_rate = self.spread_rate * (1.0 + noise[:, 2:])
        gust = math.sqrt(2.0) * jax.lax.erf_inv(noise[:, :2])
        wind = jnp.maximum(self.wind + self.wind_deviation * gust[:, 0], 0.0)
        azimuth = math.radians(self.azimuth) + self.azimuth_deviation * gust[:, 1]
        return jnp.clip(jax.vmap(advance)(fronts, spread_rate, wind, azimuth), 0.0, self.map_side)

    def _to_fires(self, state: WildfireState) -> Float[Array, "drones=2 fires=2 xy=2"]:
        return jnp.mean(state.fronts, axis=-1)[None] - state.drones[:, None]

    def reward(self, state: WildfireState) -> Float[Array, ""]:
        """R = -min_d D(d, f₁) - min_d D(d, f₂) (Eq. 16), D in map sides."""
        distance = jnp.linalg.norm(self._to_fires(state), axis=-1)
        return -jnp.sum(jnp.min(distance, axis=0)) / self.map_side

    def observe(self, state: WildfireState) -> Float[Array, "2 6"]:
        offset = self._to_fires(state)
        distance = jnp.linalg.norm(offset, axis=-1)
        nearest = jnp.min(distance, axis=1 if self.flags == "fire" else 0, keepdims=True)
        flag: Bool[Array, "2 2"] = distance <= nearest
        rows = jnp.stack([offset[..., 1], -offset[..., 0], flag.astype(jnp.float32)], axis=-1)
        return rows.reshape(2, 6)
