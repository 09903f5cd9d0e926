"""Between the game's messages and the shared encoder and decoder."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from s2clientprotocol import common_pb2 as common
from s2clientprotocol import raw_pb2 as raw
from s2clientprotocol import sc2api_pb2 as api

from crisptree.envs.zerglings.codec import ATTACK, KEEP, MOVE, Orders, View
from crisptree.envs.zerglings.rules import GRAINS, N_MARINES, N_ZERGLINGS

MARINE_TYPE = 48
ZERGLING_TYPES = (105, 119)
"""Above ground and burrowed."""
MOVE_ABILITY, ATTACK_ABILITY = 16, 23


class Sighting(NamedTuple):
    """What one observation contains."""

    view: View
    enemy_tags: tuple[int, ...]
    """Of the view's zerglings, as far as they are seen."""
    score: int
    loop: int
    over: bool
    """Whether the game has announced a result."""


def marine_tags(response: api.ResponseObservation) -> tuple[int, ...]:
    return tuple(sorted(unit.tag for unit in _units(response, raw.Self, (MARINE_TYPE,))))


def read(response: api.ResponseObservation, roster: tuple[int, ...]) -> Sighting:
    """The view in which row i is the marine `roster[i]`; one that is not there is dead."""
    marines = {unit.tag: unit for unit in _units(response, raw.Self, (MARINE_TYPE,))}
    xy, health, cooldown = _columns([marines.get(tag) for tag in roster], N_MARINES)
    seen = [
        unit
        for unit in _units(response, raw.Enemy, ZERGLING_TYPES)
        if unit.display_type == raw.Visible
    ][:N_ZERGLINGS]
    enemy_xy, enemy_health, _ = _columns(list(seen), N_ZERGLINGS)
    return Sighting(
        view=View(
            marine_xy=jnp.asarray(xy),
            marine_health=jnp.asarray(health),
            marine_cooldown=jnp.asarray(cooldown),
            zergling_xy=jnp.asarray(enemy_xy),
            zergling_health=jnp.asarray(enemy_health),
            visible=jnp.arange(N_ZERGLINGS) < len(seen),
        ),
        enemy_tags=tuple(unit.tag for unit in seen),
        score=response.observation.score.score,
        loop=response.observation.game_loop,
        over=len(response.player_result) > 0,
    )


def commands(
    orders: Orders, roster: tuple[int, ...], alive: np.ndarray, enemy_tags: tuple[int, ...]
) -> api.RequestAction:
    """One raw command for each living marine that has a new order."""
    kind, xy, target = (np.asarray(part) for part in orders)
    request = api.RequestAction()
    for row in np.flatnonzero(alive & (kind != KEEP)).tolist():
        command = request.actions.add().action_raw.unit_command
        command.unit_tags.append(roster[row])
        if kind[row] == MOVE:
            command.ability_id = MOVE_ABILITY
            place = common.Point2D(x=xy[0, row] / GRAINS, y=xy[1, row] / GRAINS)
            command.target_world_space_pos.CopyFrom(place)
        elif kind[row] == ATTACK:
            command.ability_id = ATTACK_ABILITY
            command.target_unit_tag = enemy_tags[target[row]]
    return request


def _units(
    response: api.ResponseObservation, alliance: int, types: tuple[int, ...]
) -> list[raw.Unit]:
    units = response.observation.raw_data.units
    return [unit for unit in units if unit.alliance == alliance and unit.unit_type in types]


def _columns(units: list[raw.Unit | None], n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places in grains, health and cooldown, zero where there is no unit."""
    xy, rest = np.zeros((2, n), np.int32), np.zeros((2, n), np.float32)
    for i, unit in enumerate(units):
        if unit is not None:
            xy[:, i] = round(unit.pos.x * GRAINS), round(unit.pos.y * GRAINS)
            rest[:, i] = unit.health, unit.weapon_cooldown
    return xy, rest[0], rest[1]
