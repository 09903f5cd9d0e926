"""What a marine sees and what its actions mean (Appendix F), for the simulator and the real game.

Both fill in a `View`; from there on one encoder makes the 37 features and one decoder makes the
orders, so that a policy cannot tell the two apart.
"""

from typing import Literal, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from crisptree.envs.zerglings import FEATURE_NAMES, N_TARGETS
from crisptree.envs.zerglings.rules import (
    CENTRE_X,
    CENTRE_Y,
    EAST,
    GRAINS,
    MARINE,
    MOVE_DISTANCE,
    NORTH,
    SOUTH,
    WEST,
    ZERGLING,
)

FIRST_ATTACK = 4
MISSING = -1.0

Encoding = Literal["paper", "raw"]
KEEP, MOVE, ATTACK = 0, 1, 2
UNSEEN = 2**30
"""Farther than any squared distance in grains."""


class View(NamedTuple):
    """What the player knows. A unit with no health is dead; rows keep their unit for life."""

    marine_xy: Int[Array, "2 marines"]
    """In grains."""
    marine_health: Float[Array, " marines"]
    marine_cooldown: Float[Array, " marines"]
    """In game loops."""
    zergling_xy: Int[Array, "2 zerglings"]
    zergling_health: Float[Array, " zerglings"]
    visible: Bool[Array, " zerglings"]


class Orders(NamedTuple):
    """One order per marine. `KEEP` gives no new order: the last one stays."""

    kind: Int[Array, " marines"]
    xy: Int[Array, "2 marines"]
    """In grains."""
    target: Int[Array, " marines"]
    """A column of the view's zerglings."""


def nearest_enemies(view: View) -> Int[Array, "marines 5"]:
    """The five nearest visible zerglings of each marine, nearest first; -1 where there is none."""
    gap = view.marine_xy[:, :, None] - view.zergling_xy[:, None, :]
    seen = view.visible & (view.zergling_health > 0)
    distance = jnp.where(seen, gap[0] ** 2 + gap[1] ** 2, UNSEEN)
    column = jnp.arange(distance.shape[1])
    ranked = []
    for _ in range(N_TARGETS):
        shortest = jnp.min(distance, axis=1, keepdims=True)
        # Of two at the very same distance the lower column comes first.
        first = jnp.min(jnp.where(distance == shortest, column, column.size), axis=1)
        ranked.append(jnp.where(shortest[:, 0] < UNSEEN, first, -1))
        distance = jnp.where(column == first[:, None], UNSEEN, distance)
    return jnp.stack(ranked, axis=1)


def encode(
    view: View, nearest: Int[Array, "marines=3 5"], encoding: Encoding
) -> Float[Array, "marines=3 37"]:
    """The observation: the marine itself, its two allies by nearness, the five nearest enemies.

    "paper": places of others are relative to the marine, its own is relative to the arena's
    centre; health and cooldown are shares of the full figure. "raw": map coordinates, hit points
    and game loops. A unit that is not there is -1 throughout, and so is the row of a dead marine.
    The game does not tell an enemy's cooldown (0), and every enemy on this map is a zergling (0).
    """
    health, cooldown, enemy_health = view.marine_health, view.marine_cooldown, view.zergling_health
    if encoding == "paper":
        health = health / MARINE.health
        cooldown = jnp.minimum(cooldown / MARINE.period, 1.0)
        enemy_health = enemy_health / ZERGLING.health
    alive = view.marine_health > 0
    own = jnp.stack([*_units(view.marine_xy), health, cooldown], axis=-1)
    allies, ally_alive = _allies_by_nearness(view, own)
    present = nearest >= 0
    x, y, life = jnp.stack([*_units(view.zergling_xy), enemy_health])[:, nearest]
    enemies = jnp.stack([x, y, life, jnp.zeros_like(x), jnp.zeros_like(x)], axis=-1)
    if encoding == "paper":
        allies = allies.at[..., :2].add(-own[:, None, :2])
        enemies = enemies.at[..., :2].add(-own[:, None, :2])
        own = own.at[:, :2].add(-jnp.array([CENTRE_X, CENTRE_Y], jnp.float32))
    allies = jnp.where(ally_alive[..., None], allies, MISSING)
    enemies = jnp.where(present[..., None], enemies, MISSING)
    row = jnp.concatenate([own, allies.reshape(3, 8), enemies.reshape(3, 25)], axis=1)
    return jnp.where(alive[:, None], row, MISSING)


def _units(xy: Int[Array, "2 n"]) -> Float[Array, "2 n"]:
    return xy.astype(jnp.float32) / GRAINS


def in_arena(xy: Int[Array, "2 n"]) -> Int[Array, "2 n"]:
    """The nearest places, in grains, that are in the arena."""
    x = jnp.clip(xy[0], WEST * GRAINS, EAST * GRAINS)
    return jnp.stack([x, jnp.clip(xy[1], SOUTH * GRAINS, NORTH * GRAINS)])


def bounds(encoding: Encoding) -> tuple[np.ndarray, np.ndarray]:
    """The least and the greatest value of each feature."""
    if encoding == "paper":
        width, height = EAST - WEST, NORTH - SOUTH
        own = [width / 2, height / 2, 1, 1]
        ally, enemy = [width, height, 1, 1], [width, height, 1, 0, 0]
    else:
        # A wait can be drawn two loops longer than the weapon's period, and one is over at once.
        own = ally = [EAST, NORTH, MARINE.health, MARINE.period + 1]
        enemy = [EAST, NORTH, ZERGLING.health, 0, 0]
    high = np.array([*own, *ally * 2, *enemy * N_TARGETS])
    places = np.array([name.endswith((" x", " y")) for name in FEATURE_NAMES])
    return np.where(places & (encoding == "paper"), -high, MISSING), high


def _allies_by_nearness(
    view: View, own: Float[Array, "3 4"]
) -> tuple[Float[Array, "3 2 4"], Bool[Array, "3 2"]]:
    """Each marine's two allies, the nearer living one first, and whether they live."""

    def ally(shift: int) -> tuple[Array, Array, Array]:
        alive = jnp.roll(view.marine_health, shift) > 0
        gap = jnp.roll(view.marine_xy, shift, axis=1) - view.marine_xy
        distance = jnp.where(alive, gap[0] ** 2 + gap[1] ** 2, UNSEEN)
        return distance, alive, jnp.roll(own, shift, axis=0)

    (distance_a, alive_a, a), (distance_b, alive_b, b) = ally(-1), ally(-2)
    swap = distance_b < distance_a
    first, second = jnp.where(swap[:, None], b, a), jnp.where(swap[:, None], a, b)
    alive_first, alive_second = jnp.where(swap, alive_b, alive_a), jnp.where(swap, alive_a, alive_b)
    return jnp.stack([first, second], axis=1), jnp.stack([alive_first, alive_second], axis=1)


def decode(
    marine_xy: Int[Array, "2 marines"],
    nearest: Int[Array, "marines 5"],
    action: Int[Array, " marines"],
) -> Orders:
    """The orders that the actions give.

    A move points five units ahead, within the arena; an attack names the k-th of the five nearest
    visible zerglings. To attack one that is not there, to do nothing, and any id outside 0…9 give
    no new order.
    """
    east = (action == 1).astype(jnp.int32) - (action == 2)
    north = (action == 0).astype(jnp.int32) - (action == 3)
    xy = in_arena(marine_xy + MOVE_DISTANCE * GRAINS * jnp.stack([east, north]))
    chosen = action[:, None] == FIRST_ATTACK + jnp.arange(N_TARGETS)
    target = jnp.max(jnp.where(chosen, nearest, -1), axis=1)
    moves = (action >= 0) & (action < FIRST_ATTACK)
    kind = jnp.where(moves, MOVE, jnp.where(target >= 0, ATTACK, KEEP))
    return Orders(kind, xy, target)
