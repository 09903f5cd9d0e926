"""Two drones keep over two wildfires that cross the map from south-east to north-west (§6.2).

The map has x east and y north. Both drones run the same policy; each sees only where the fires are
from where it is. The paper fixes the map, the observation, the actions and the reward, not the
speeds nor the length of an episode: the defaults here are a calibration under which simple
policies score as the paper's table says they should.

Places are whole numbers of grains, a fraction of a pixel, and the weather comes from tables. So no
rounding depends on how the compiler arranges the work: an episode is the same to the last bit,
alone or in a batch.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key, UInt32

from crisptree.crisp.signature import Actions
from crisptree.envs.functional import TimeStep
from crisptree.envs.wildfire import ACTION_NAMES, FEATURE_NAMES
from crisptree.envs.wildfire.farsite import drift, normal_quantiles

EAST_OF_ACTION = (0, 1, 0, -1, 0)
NORTH_OF_ACTION = (1, 0, -1, 0, 0)
WEATHER_BITS = 12


class WildfireState(NamedTuple):
    drones: Int[Array, "2 2"]
    """Drone by (x, y), in grains."""
    fronts: Int[Array, "2 2 points"]
    """Fire by (x, y) by point of the front, in grains."""
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
    """Pixels."""
    horizon: int = 120
    """Steps."""
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
    flags: Literal["drone", "fire"] = "drone"
    """What "closest to fire i" says: "drone", of the two drones, this one is the closer to fire i;
    "fire", of the two fires, i is the closer to this drone. The paper can be read either way; by
    the second reading one flag would only be the other's opposite."""

    agent_names: ClassVar[tuple[str, ...]] = ("drone_0", "drone_1")
    feature_names: ClassVar[tuple[str, ...]] = FEATURE_NAMES
    action_names: ClassVar[tuple[str, ...]] = ACTION_NAMES

    @property
    def n_agents(self) -> int:
        return 2

    @property
    def n_features(self) -> int:
        return len(FEATURE_NAMES)

    @property
    def actions(self) -> Actions:
        return Actions.discrete(ACTION_NAMES)

    @property
    def grains(self) -> int:
        """Grains a pixel: a power of two, 64 on the default map, as fine as int32 distances are."""
        return 2 ** int(math.log2(32767 / self.map_side))

    @property
    def _side(self) -> int:
        return round(self.map_side * self.grains)

    def reset(self, key: Key[Array, ""]) -> tuple[WildfireState, Float[Array, "2 6"]]:
        places = jax.random.uniform(key, (4, 2))
        drones = jnp.floor(places[:2] * self._side).astype(jnp.int32)
        half = self._side // 2
        ignitions = jnp.floor(places[2:] * half).astype(jnp.int32) + jnp.array([half, 0])
        turns = 2 * np.pi * np.arange(self.front_points) / self.front_points
        ring = self.front_radius * self.grains * np.stack([np.sin(turns), np.cos(turns)])
        fronts = ignitions[:, :, None] + np.rint(ring).astype(np.int32)
        state = WildfireState(drones, jnp.clip(fronts, 0, self._side), jnp.int32(0))
        return state, self.observe(state)

    def step(self, key: Key[Array, ""], state: WildfireState, action: Int[Array, " 2"]) -> TimeStep:
        words = jax.random.bits(key, (2, self.front_points + 1))
        state = WildfireState(
            self._fly(state.drones, action), self._burn(state.fronts, words), state.steps + 1
        )
        return TimeStep(
            state=state,
            observation=self.observe(state),
            reward=jnp.broadcast_to(self.reward(state), (2,)),
            terminated=jnp.zeros(2, bool),
            truncated=state.steps >= self.horizon,
        )

    def _fly(self, drones: Int[Array, "2 2"], action: Int[Array, " 2"]) -> Int[Array, "2 2"]:
        chosen = action[:, None] == jnp.arange(len(ACTION_NAMES))
        headings = np.stack([EAST_OF_ACTION, NORTH_OF_ACTION], axis=1)
        heading = jnp.sum(jnp.where(chosen[:, :, None], headings, 0), axis=1)
        stride = round(self.drone_step * self.grains)
        return jnp.clip(drones + stride * heading, 0, self._side)

    def _burn(
        self, fronts: Int[Array, "2 2 points"], words: UInt32[Array, "2 words"]
    ) -> Int[Array, "2 2 points"]:
        """x + C(R, U) sin Θ and y + C(R, U) cos Θ of every point of either front."""
        drifts, headings = _weather(self)
        gust = words[:, 0] >> (32 - WEATHER_BITS)
        veer = words[:, 0] & (2**WEATHER_BITS - 1)
        velocity = jnp.asarray(drifts)[gust][:, None] * jnp.asarray(headings)[veer]
        share = (words[:, 1:] >> 8).astype(jnp.float32)
        spread_rate = share * (2 * self.spread_rate * self.grains / 2**24)
        move = jnp.rint(velocity[:, :, None] * spread_rate[:, None, :]).astype(jnp.int32)
        return jnp.clip(fronts + move, 0, self._side)

    def _to_fires(self, state: WildfireState) -> Int[Array, "drones fires xy"]:
        centroid = jnp.sum(state.fronts, axis=-1) // self.front_points
        return centroid[None] - state.drones[:, None]

    def reward(self, state: WildfireState) -> Float[Array, ""]:
        """R = -min_d D(d, f₁) - min_d D(d, f₂) (Eq. 16), D in map sides."""
        squared = jnp.min(jnp.sum(self._to_fires(state) ** 2, axis=-1), axis=0)
        return -jnp.sum(jnp.sqrt(squared.astype(jnp.float32))) / self._side

    def observe(self, state: WildfireState) -> Float[Array, "2 6"]:
        offset = self._to_fires(state)
        squared = jnp.sum(offset**2, axis=-1)
        rival = 1 if self.flags == "fire" else 0
        flag = squared <= jnp.min(squared, axis=rival, keepdims=True)
        pixels = offset.astype(jnp.float32) / self.grains
        rows = jnp.stack([pixels[..., 1], -pixels[..., 0], flag.astype(jnp.float32)], axis=-1)
        return rows.reshape(2, 6)

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        side = self.map_side
        return np.array([-side, -side, 0] * 2), np.array([side, side, 1] * 2)

    def draw(self, state: WildfireState) -> np.ndarray:
        from crisptree.envs.wildfire.draw import draw

        return draw(self, state)


@lru_cache(maxsize=16)
def _weather(env: Wildfire) -> tuple[np.ndarray, np.ndarray]:
    """C/R of every gust, `(2^12,)`, and (sin Θ, cos Θ) of every azimuth, `(2^12, 2)`.

    Equally likely draws of U ~ N(wind, wind_deviation²), cut at calm, and of
    Θ ~ N(azimuth, azimuth_deviation²).
    """
    normal = normal_quantiles(2**WEATHER_BITS)
    wind = np.maximum(env.wind + env.wind_deviation * normal, 0.0)
    azimuth = math.radians(env.azimuth) + env.azimuth_deviation * normal
    headings = np.stack([np.sin(azimuth), np.cos(azimuth)], axis=1)
    return drift(wind).astype(np.float32), headings.astype(np.float32)
