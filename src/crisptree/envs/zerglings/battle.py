"""One game loop of the fight: aim, shoot, walk.

Everything happens at once: all units aim and shoot by where things stand at the start of the loop.
What the game has beyond this (acceleration, turning, zerglings that jostle each other) is left
out.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from crisptree.envs.zerglings.codec import ATTACK, MOVE, in_arena
from crisptree.envs.zerglings.rules import GRAINS, LOOPS_PER_SECOND, MARINE, ZERGLING, Unit

IDLE = 0
TOUCH = MARINE.radius + ZERGLING.radius
REACH = MARINE.range + TOUCH
BITE = ZERGLING.range + TOUCH
SWING = 0.167 * LOOPS_PER_SECOND
"""Claws swing before they cut: a zergling that arrives at its prey bites this much later."""
FAR = 2**30


class Marines(NamedTuple):
    xy: Int[Array, "2 m"]
    """In grains."""
    health: Float[Array, " m"]
    cooldown: Float[Array, " m"]
    """Game loops until the next shot."""
    rifle_up: Bool[Array, " m"]
    """It had its target in reach a loop ago; raising the rifle takes one."""
    order: Int[Array, " m"]
    """IDLE (shoot what comes in range), MOVE (shoot at nothing) or ATTACK (chase one zergling)."""
    order_xy: Int[Array, "2 m"]
    order_target: Int[Array, " m"]


class Zerglings(NamedTuple):
    xy: Int[Array, "2 z"]
    """In grains."""
    health: Float[Array, " z"]
    cooldown: Float[Array, " z"]
    prey: Int[Array, " z"]
    """The marine it is after, or -1: it stands still until one comes near or shoots at it."""


def squared(length: float) -> int:
    """A length in map units as a squared distance in grains."""
    return int((length * GRAINS) ** 2)


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
    distance = gap[0] ** 2 + gap[1] ** 2
    row = jnp.arange(marines.health.size)[:, None]
    standing = marines.health > 0
    crawling = zerglings.health > 0

    order, aim = _aim(marines, distance, standing, crawling)
    in_reach = aim & (distance <= squared(REACH))
    ready = standing & marines.rifle_up & (marines.cooldown <= 0)
    shot = in_reach & ready[:, None]
    prey = _hunt(zerglings.prey, distance, standing, acquisition + TOUCH)
    after = prey == row
    at_prey = after & (distance <= squared(BITE))
    bite = at_prey & crawling & (zerglings.cooldown <= 0)
    shooter = jnp.min(jnp.where(shot, row, row.size), axis=0)

    xy, order = _walk(marines, order, aim, zerglings.xy, distance, standing)
    bite_wait = _wait(zerglings.cooldown, jnp.any(bite, axis=0), ZERGLING, zergling_jitter)
    return (
        marines._replace(
            xy=_part(xy, standing),
            health=_heal(marines.health - ZERGLING.damage * jnp.sum(bite, axis=1), MARINE),
            cooldown=_wait(marines.cooldown, jnp.any(shot, axis=1), MARINE, marine_jitter),
            rifle_up=jnp.any(in_reach, axis=1),
            order=order,
        ),
        Zerglings(
            xy=jnp.where(crawling, _chase(zerglings.xy, gap, distance, after), zerglings.xy),
            health=_heal(zerglings.health - MARINE.damage * jnp.sum(shot, axis=0), ZERGLING),
            cooldown=jnp.where(jnp.any(at_prey, axis=0), bite_wait, jnp.maximum(bite_wait, SWING)),
            prey=jnp.where((prey < 0) & (shooter < row.size), shooter, prey),
        ),
    )


def visible(distance: Int[Array, "m z"], standing: Bool[Array, " m"]) -> Bool[Array, " z"]:
    """Fog of war: which zerglings stand in sight of a living marine. Distances are squared."""
    return jnp.any((distance <= squared(MARINE.sight)) & standing[:, None], axis=0)


def _aim(
    marines: Marines,
    distance: Int[Array, "m z"],
    standing: Bool[Array, " m"],
    crawling: Bool[Array, " z"],
) -> tuple[Int[Array, " m"], Bool[Array, "m z"]]:
    """The orders still worth following, and the one zergling (or none) each marine aims at."""
    column = jnp.arange(distance.shape[1])
    known = crawling & visible(distance, standing)
    ordered = (marines.order == ATTACK)[:, None] & (column == marines.order_target[:, None]) & known
    lost = (marines.order == ATTACK) & ~jnp.any(ordered, axis=1)
    order = jnp.where(lost, IDLE, marines.order)
    in_reach = jnp.where(crawling & (distance <= squared(REACH)), distance, FAR)
    nearest = jnp.min(in_reach, axis=1, keepdims=True)
    first = jnp.min(jnp.where(in_reach == nearest, column, column.size), axis=1, keepdims=True)
    acquired = (order == IDLE)[:, None] & (column == first) & (nearest < FAR)
    return order, ordered | acquired


def _hunt(
    prey: Int[Array, " z"],
    distance: Int[Array, "m z"],
    standing: Bool[Array, " m"],
    notice: float,
) -> Int[Array, " z"]:
    """A zergling stays after its prey; without one it takes the nearest marine it notices."""
    row = jnp.arange(distance.shape[0])[:, None]
    holds = jnp.any((prey == row) & standing[:, None], axis=0)
    distance = jnp.where(standing[:, None], distance, FAR)
    nearest = jnp.min(distance, axis=0)
    first = jnp.min(jnp.where(distance == nearest, row, row.size), axis=0)
    return jnp.where(holds, prey, jnp.where(nearest <= squared(notice), first, -1))


def _walk(
    marines: Marines,
    order: Int[Array, " m"],
    aim: Bool[Array, "m z"],
    zergling_xy: Int[Array, "2 z"],
    distance: Int[Array, "m z"],
    standing: Bool[Array, " m"],
) -> tuple[Int[Array, "2 m"], Int[Array, " m"]]:
    """Marines on the move, and those whose target is out of reach; who has arrived is idle."""
    moving = order == MOVE
    target = jnp.sum(jnp.where(aim, zergling_xy[:, None, :], 0), axis=2)
    chasing = jnp.any(aim & (distance > squared(REACH)), axis=1)
    way = jnp.where(moving, marines.order_xy, target) - marines.xy
    length = _length(way[0] ** 2 + way[1] ** 2)
    speed = MARINE.speed * GRAINS
    stride = _scaled(way, speed / jnp.maximum(length, speed))
    xy = marines.xy + jnp.where(standing & (moving | chasing), stride, 0)
    return xy, jnp.where(moving & (length <= speed), IDLE, order)


def _part(xy: Int[Array, "2 m"], standing: Bool[Array, " m"]) -> Int[Array, "2 m"]:
    """Living marines that overlap push each other apart, half the overlap each, in the arena."""
    pushed = xy
    for shift in range(1, xy.shape[1]):
        way = xy - jnp.roll(xy, shift, axis=1)
        length = _length(way[0] ** 2 + way[1] ** 2)
        overlap = jnp.maximum(2 * MARINE.radius * GRAINS - length, 0.0)
        push = _scaled(way, 0.5 * overlap / jnp.maximum(length, 1.0))
        pushed += jnp.where(standing & jnp.roll(standing, shift), push, 0)
    return in_arena(pushed)


def _chase(
    xy: Int[Array, "2 z"],
    gap: Int[Array, "2 m z"],
    distance: Int[Array, "m z"],
    after: Bool[Array, "m z"],
) -> Int[Array, "2 z"]:
    """Zerglings run at their prey until they touch it."""
    length = _length(jnp.sum(jnp.where(after, distance, 0), axis=0))
    touch = TOUCH * GRAINS
    pace = jnp.clip(length - touch, 0.0, ZERGLING.speed * GRAINS) / jnp.maximum(length, touch)
    return xy - _scaled(jnp.sum(jnp.where(after, gap, 0), axis=1), pace)


def _length(squared_length: Int[Array, " n"]) -> Float[Array, " n"]:
    return jnp.sqrt(squared_length.astype(jnp.float32))


def _scaled(way: Int[Array, "2 n"], share: Float[Array, " n"]) -> Int[Array, "2 n"]:
    return jnp.rint(share * way.astype(jnp.float32)).astype(jnp.int32)


def _heal(health: Float[Array, " n"], unit: Unit) -> Float[Array, " n"]:
    return jnp.where(health > 0, jnp.minimum(health + unit.regeneration, unit.health), 0.0)


def _wait(
    cooldown: Float[Array, " n"],
    fired: Bool[Array, " n"],
    unit: Unit,
    jitter: Float[Array, " n"],
) -> Float[Array, " n"]:
    """Loops until the next shot, one of which is this one."""
    return jnp.maximum(jnp.where(fired, unit.period + jitter, cooldown) - 1.0, 0.0)
