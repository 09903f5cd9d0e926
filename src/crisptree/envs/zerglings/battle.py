"""One game loop of the fight: aim, shoot, walk.

Everything happens at once: all units aim and shoot by where things stand at the start of the loop.
What the game has beyond this (acceleration, turning, wind-up, zerglings that jostle each other) is
left out.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from crisptree.envs.zerglings.codec import ATTACK, MOVE
from crisptree.envs.zerglings.rules import (
    EAST,
    LOOPS_PER_SECOND,
    MARINE,
    NORTH,
    SOUTH,
    WEST,
    ZERGLING,
    Unit,
)

IDLE = 0
TOUCH = MARINE.radius + ZERGLING.radius
REACH = MARINE.range + TOUCH
BITE = ZERGLING.range + TOUCH
SWING = 0.167 * LOOPS_PER_SECOND


class Marines(NamedTuple):
    xy: Float[Array, "2 m"]
    health: Float[Array, " m"]
    cooldown: Float[Array, " m"]
    """Game loops until the next shot."""
    order: Int[Array, " m"]
    """IDLE (shoot what comes in range), MOVE (shoot at nothing) or ATTACK (chase one zergling)."""
    order_xy: Float[Array, "2 m"]
    order_target: Int[Array, " m"]


class Zerglings(NamedTuple):
    xy: Float[Array, "2 z"]
    health: Float[Array, " z"]
    cooldown: Float[Array, " z"]
    prey: Int[Array, " z"]
    """The marine it is after, or -1: it stands still until one comes near or shoots at it."""


def game_loop(
    marines: Marines,
    zerglings: Zerglings,
    marine_jitter: Float[Array, " m"],
    zergling_jitter: Float[Array, " z"],
    acquisition: float,
) -> tuple[Marines, Zerglings]:
    """The next loop. Jitter lengthens the wait after a shot; `acquisition` is how near, edge to
    edge, a marine may come before a zergling goes for it."""
    gap = zerglings.xy[:, None, :] - marines.xy[:, :, None]
    distance = jnp.sqrt(gap[0] ** 2 + gap[1] ** 2)
    row = jnp.arange(marines.health.size)[:, None]
    standing = marines.health > 0
    crawling = zerglings.health > 0

    order, aim = _aim(marines, distance, standing, crawling)
    shot = aim & (distance <= REACH) & (standing & (marines.cooldown <= 0))[:, None]
    prey = _hunt(zerglings.prey, distance, standing, acquisition + TOUCH)
    at_prey = (prey == row) & (distance <= BITE)
    bite = at_prey & crawling & (zerglings.cooldown <= 0)
    shooter = jnp.min(jnp.where(shot, row, row.size), axis=0)

    xy, order = _walk(marines, order, aim, zerglings.xy, distance, standing)
    return (
        marines._replace(
            xy=_part(xy, standing),
            health=_heal(marines.health - ZERGLING.damage * jnp.sum(bite, axis=1), MARINE),
            cooldown=_wait(marines.cooldown, jnp.any(shot, axis=1), MARINE, marine_jitter),
            order=order,
        ),
        Zerglings(
            xy=jnp.where(crawling, _chase(zerglings.xy, gap, distance, prey == row), zerglings.xy),
            health=_heal(zerglings.health - MARINE.damage * jnp.sum(shot, axis=0), ZERGLING),
            cooldown=jnp.maximum(
                _wait(zerglings.cooldown, jnp.any(bite, axis=0), ZERGLING, zergling_jitter),
                # Claws swing before they cut, so a zergling that arrives bites a little later.
                jnp.where(jnp.any(at_prey, axis=0), 0.0, SWING),
            ),
            prey=jnp.where((prey < 0) & (shooter < row.size), shooter, prey),
        ),
    )


def visible(distance: Float[Array, "m z"], standing: Bool[Array, " m"]) -> Bool[Array, " z"]:
    """Fog of war: which zerglings stand in sight of a living marine."""
    return jnp.any((distance <= MARINE.sight) & standing[:, None], axis=0)


def _aim(
    marines: Marines,
    distance: Float[Array, "m z"],
    standing: Bool[Array, " m"],
    crawling: Bool[Array, " z"],
) -> tuple[Int[Array, " m"], Bool[Array, "m z"]]:
    """The orders still worth following, and the one zergling (or none) each marine aims at."""
    column = jnp.arange(distance.shape[1])
    known = crawling & visible(distance, standing)
    ordered = (marines.order == ATTACK)[:, None] & (column == marines.order_target[:, None]) & known
    lost = (marines.order == ATTACK) & ~jnp.any(ordered, axis=1)
    order = jnp.where(lost, IDLE, marines.order)
    in_reach = jnp.where(crawling & (distance <= REACH), distance, jnp.inf)
    nearest = jnp.min(in_reach, axis=1, keepdims=True)
    first = jnp.min(jnp.where(in_reach == nearest, column, column.size), axis=1, keepdims=True)
    acquired = (order == IDLE)[:, None] & (column == first) & jnp.isfinite(nearest)
    return order, ordered | acquired


def _hunt(
    prey: Int[Array, " z"],
    distance: Float[Array, "m z"],
    standing: Bool[Array, " m"],
    notice: float,
) -> Int[Array, " z"]:
    """A zergling stays after its prey; without one it takes the nearest marine it notices."""
    row = jnp.arange(distance.shape[0])[:, None]
    holds = jnp.any((prey == row) & standing[:, None], axis=0)
    distance = jnp.where(standing[:, None], distance, jnp.inf)
    nearest = jnp.min(distance, axis=0)
    first = jnp.min(jnp.where(distance == nearest, row, row.size), axis=0)
    return jnp.where(holds, prey, jnp.where(nearest <= notice, first, -1))


def _walk(
    marines: Marines,
    order: Int[Array, " m"],
    aim: Bool[Array, "m z"],
    zergling_xy: Float[Array, "2 z"],
    distance: Float[Array, "m z"],
    standing: Bool[Array, " m"],
) -> tuple[Float[Array, "2 m"], Int[Array, " m"]]:
    """Marines on the move, and those whose target is out of reach; who has arrived is idle."""
    moving = order == MOVE
    target = jnp.sum(jnp.where(aim, zergling_xy[:, None, :], 0.0), axis=2)
    chasing = jnp.any(aim & (distance > REACH), axis=1)
    way = jnp.where(moving, marines.order_xy, target) - marines.xy
    length = jnp.sqrt(way[0] ** 2 + way[1] ** 2)
    pace = jnp.minimum(1.0, MARINE.speed / jnp.maximum(length, MARINE.speed))
    xy = marines.xy + jnp.where(standing & (moving | chasing), pace * way, 0.0)
    return xy, jnp.where(moving & (length <= MARINE.speed), IDLE, order)


def _part(xy: Float[Array, "2 m"], standing: Bool[Array, " m"]) -> Float[Array, "2 m"]:
    """Living marines that overlap push each other apart, half the overlap each, in the arena."""
    push = jnp.zeros_like(xy)
    for shift in range(1, xy.shape[1]):
        way = xy - jnp.roll(xy, shift, axis=1)
        length = jnp.sqrt(way[0] ** 2 + way[1] ** 2)
        both = standing & jnp.roll(standing, shift)
        overlap = jnp.maximum(2 * MARINE.radius - length, 0.0)
        push += jnp.where(both, 0.5 * overlap / jnp.maximum(length, 1e-3), 0.0) * way
    x, y = xy + push
    return jnp.stack([jnp.clip(x, WEST, EAST), jnp.clip(y, SOUTH, NORTH)])


def _chase(
    xy: Float[Array, "2 z"],
    gap: Float[Array, "2 m z"],
    distance: Float[Array, "m z"],
    after: Bool[Array, "m z"],
) -> Float[Array, "2 z"]:
    """Zerglings run at their prey until they touch it."""
    length = jnp.sum(jnp.where(after, distance, 0.0), axis=0)
    pace = jnp.clip(length - TOUCH, 0.0, ZERGLING.speed) / jnp.maximum(length, TOUCH)
    return xy - pace * jnp.sum(jnp.where(after, gap, 0.0), axis=1)


def _heal(health: Float[Array, " n"], unit: Unit) -> Float[Array, " n"]:
    return jnp.where(health > 0, jnp.minimum(health + unit.regeneration, unit.health), 0.0)


def _wait(
    cooldown: Float[Array, " n"],
    fired: Bool[Array, " n"],
    unit: Unit,
    jitter: Float[Array, " n"],
) -> Float[Array, " n"]:
    return jnp.where(fired, unit.period + jitter, jnp.maximum(cooldown - 1.0, 0.0))
