"""FindAndDefeatZerglings, the StarCraft II mini-game (§6.3), simulated.

Three marines in the fog of a 44 by 32 arena look for 25 zerglings that stand still until a marine
comes near or shoots. When all are dead 25 more appear. The marines are never healed or replaced.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key, UInt32

from crisptree.crisp.signature import Actions
from crisptree.envs.functional import TimeStep
from crisptree.envs.zerglings import ACTION_NAMES, FEATURE_NAMES
from crisptree.envs.zerglings.battle import IDLE, Marines, Zerglings, game_loop, squared, visible
from crisptree.envs.zerglings.codec import (
    ATTACK,
    KEEP,
    Encoding,
    Orders,
    View,
    bounds,
    decode,
    encode,
    nearest_enemies,
)
from crisptree.envs.zerglings.layouts import N_LAYOUTS, respawns, starts
from crisptree.envs.zerglings.rules import (
    CENTRE_X,
    CENTRE_Y,
    GRAINS,
    LAST_LOOP,
    LOOPS_PER_STEP,
    MARINE,
    N_MARINES,
    N_ZERGLINGS,
    ZERGLING,
)

FAR_FROM_MARINES = 9.0
START_ANGLES = np.radians([210.0, 330.0, 90.0])


class ZerglingsState(NamedTuple):
    marines: Marines
    zerglings: Zerglings
    nearest: Int[Array, "3 5"]
    """The enemies that the last observation listed: what an attack action refers to."""
    loops: Int[Array, ""]


@dataclass(frozen=True)
class FindAndDefeatZerglings:
    """The environment: one decision each 8 game loops, over after 360 or with the last marine.

    A row of the observation is a marine's (`codec.encode`). The reward is the team's, the same in
    every row: zerglings killed less marines lost. A marine that dies has `terminated`, its row is
    all -1 and its actions do nothing. An action id outside 0…9 gives no order. Steps past the end
    go on, still `truncated` or `terminated`.
    """

    encoding: Encoding = "paper"
    acquisition: float = 5.0
    """How near, edge to edge, a marine may come before a zergling goes for it."""

    agent_names: ClassVar[tuple[str, ...]] = ("marine_0", "marine_1", "marine_2")
    feature_names: ClassVar[tuple[str, ...]] = FEATURE_NAMES
    action_names: ClassVar[tuple[str, ...]] = ACTION_NAMES

    @property
    def n_agents(self) -> int:
        return N_MARINES

    @property
    def n_features(self) -> int:
        return len(FEATURE_NAMES)

    @property
    def actions(self) -> Actions:
        return Actions.discrete(ACTION_NAMES)

    def reset(self, key: Key[Array, ""]) -> tuple[ZerglingsState, Float[Array, "3 37"]]:
        (word,) = jax.random.bits(key, (1,))
        circle = np.stack([CENTRE_X + np.cos(START_ANGLES), CENTRE_Y + np.sin(START_ANGLES)])
        xy = jnp.asarray(np.rint(circle * GRAINS), jnp.int32)
        marines = Marines(
            xy=xy,
            health=jnp.full(N_MARINES, MARINE.health),
            cooldown=jnp.zeros(N_MARINES),
            rifle_up=jnp.zeros(N_MARINES, bool),
            order=jnp.full(N_MARINES, IDLE),
            order_xy=xy,
            order_target=jnp.full(N_MARINES, -1),
        )
        return self._observe(marines, _fresh(_pick(starts(), word)), jnp.int32(0))

    def step(
        self, key: Key[Array, ""], state: ZerglingsState, action: Int[Array, " 3"]
    ) -> TimeStep:
        return self.advance(key, state, decode(state.marines.xy, state.nearest, action))

    def advance(self, key: Key[Array, ""], state: ZerglingsState, orders: Orders) -> TimeStep:
        """Eight game loops under these orders."""
        words = jax.random.bits(key, (N_MARINES + N_ZERGLINGS + 1,))
        before = state.marines, state.zerglings
        new = orders.kind != KEEP
        marines = state.marines._replace(
            order=jnp.where(new, orders.kind, state.marines.order),
            order_xy=jnp.where(new, orders.xy, state.marines.order_xy),
            order_target=jnp.where(new, orders.target, state.marines.order_target),
        )

        def loop(i: Int[Array, ""], units: tuple[Marines, Zerglings]) -> tuple[Marines, Zerglings]:
            # The game waits -1 to +2 loops longer after a shot: two bits per unit and loop.
            jitter = ((words >> (2 * i).astype(words.dtype)) & 3).astype(jnp.float32) - 1.0
            return game_loop(*units, jitter[:N_MARINES], jitter[N_MARINES:-1], self.acquisition)

        marines, zerglings = jax.lax.fori_loop(0, LOOPS_PER_STEP, loop, (marines, state.zerglings))
        kills = _alive(before[1]) - _alive(zerglings)
        deaths = _alive(before[0]) - _alive(marines)
        marines, zerglings = _respawn(marines, zerglings, words[-1])
        state, observation = self._observe(marines, zerglings, state.loops + LOOPS_PER_STEP)
        return TimeStep(
            state=state,
            observation=observation,
            reward=jnp.broadcast_to((kills - deaths).astype(jnp.float32), (N_MARINES,)),
            terminated=marines.health <= 0,
            truncated=state.loops >= LAST_LOOP,
        )

    def _observe(
        self, marines: Marines, zerglings: Zerglings, loops: Int[Array, ""]
    ) -> tuple[ZerglingsState, Float[Array, "3 37"]]:
        seen = view(marines, zerglings)
        nearest = nearest_enemies(seen)
        state = ZerglingsState(marines, zerglings, nearest, loops)
        return state, encode(seen, nearest, self.encoding)

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        return bounds(self.encoding)

    def draw(self, state: ZerglingsState) -> np.ndarray:
        from crisptree.envs.zerglings.draw import draw

        return draw(state)


def view(marines: Marines, zerglings: Zerglings) -> View:
    gap = zerglings.xy[:, None, :] - marines.xy[:, :, None]
    distance = gap[0] ** 2 + gap[1] ** 2
    return View(
        marine_xy=marines.xy,
        marine_health=marines.health,
        marine_cooldown=marines.cooldown,
        zergling_xy=zerglings.xy,
        zergling_health=zerglings.health,
        visible=visible(distance, marines.health > 0),
    )


def _alive(units: Marines | Zerglings) -> Int[Array, ""]:
    return jnp.sum(units.health > 0)


def _pick(table: np.ndarray, word: UInt32[Array, ""]) -> Int[Array, "2 places"]:
    """A random row of the table, mirrored at random in either axis."""
    places = jnp.asarray(table)[(word % N_LAYOUTS).astype(jnp.int32)]
    centre = GRAINS * jnp.array([CENTRE_X, CENTRE_Y])[:, None]
    mirrored = ((word >> jnp.array([30, 31], word.dtype)) & 1).astype(bool)
    return jnp.where(mirrored[:, None], 2 * centre - places, places)


def _fresh(xy: Int[Array, "2 z"]) -> Zerglings:
    n = xy.shape[1]
    return Zerglings(xy, jnp.full(n, ZERGLING.health), jnp.zeros(n), jnp.full(n, -1))


def _respawn(
    marines: Marines, zerglings: Zerglings, word: UInt32[Array, ""]
) -> tuple[Marines, Zerglings]:
    """When none is left, 25 anew, at 9 or more from every marine.

    Marines that stand far apart can leave fewer than 25 such places; then others fill up.
    """
    cleared = jnp.all(zerglings.health <= 0)
    places = _pick(respawns(), word)
    gap = places[:, None, :] - marines.xy[:, :, None]
    near = gap[0] ** 2 + gap[1] ** 2 < squared(FAR_FROM_MARINES)
    far: Bool[Array, " places"] = ~jnp.any(near & (marines.health > 0)[:, None], axis=0)
    rank = jnp.where(far, jnp.cumsum(far), jnp.sum(far) + jnp.cumsum(~far)) - 1
    seat = rank[:, None] == jnp.arange(N_ZERGLINGS)
    xy = jnp.sum(jnp.where(seat, places[:, :, None], 0), axis=1)
    wave = jax.tree.map(lambda new, old: jnp.where(cleared, new, old), _fresh(xy), zerglings)
    hunting = cleared & (marines.order == ATTACK)
    return marines._replace(order=jnp.where(hunting, IDLE, marines.order)), wave
