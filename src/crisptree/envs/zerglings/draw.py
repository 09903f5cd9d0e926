"""A picture of the arena: marines and their sight, zerglings, who shoots at whom."""

from typing import Any

import numpy as np

from crisptree.envs.paint import Painting, Point
from crisptree.envs.zerglings.battle import REACH
from crisptree.envs.zerglings.codec import ATTACK, MOVE
from crisptree.envs.zerglings.rules import (
    EAST,
    GRAINS,
    LAST_LOOP,
    LOOPS_PER_SECOND,
    MARINE,
    NORTH,
    SOUTH,
    WEST,
    ZERGLING,
)

FOG, LIT = (38, 42, 48), (186, 178, 156)
INK, PAPER = (235, 236, 232), (24, 27, 31)
BLUE, PALE_BLUE, WHITE = (40, 95, 190), (120, 170, 240), (255, 255, 255)
RED, PALE_RED, SHOT = (190, 35, 45), (100, 62, 66), (250, 210, 70)
GREY = (96, 100, 106)
PIXELS_PER_UNIT = 18


def draw(state: Any) -> np.ndarray:
    painting = Painting((WEST, SOUTH), (EAST, NORTH), PIXELS_PER_UNIT, FOG)
    marines, zerglings = state.marines, state.zerglings
    marine_xy, zergling_xy = np.asarray(marines.xy).T / GRAINS, np.asarray(zerglings.xy).T / GRAINS
    standing, crawling = np.asarray(marines.health) > 0, np.asarray(zerglings.health) > 0
    gap = np.linalg.norm(marine_xy[:, None] - zergling_xy[None], axis=-1)
    seen = ((gap <= MARINE.sight) & standing[:, None]).any(axis=0)
    painting.discs([_point(xy) for xy in marine_xy[standing]], MARINE.sight, LIT)
    for i in np.flatnonzero(standing).tolist():
        _order(painting, state, i, marine_xy[i], zergling_xy)
    for j in np.flatnonzero(crawling).tolist():
        _unit(painting, zergling_xy[j], RED if seen[j] else PALE_RED)
        if seen[j]:
            share = float(zerglings.health[j]) / ZERGLING.health
            painting.bar(_above(zergling_xy[j]), 1.2, 0.2, share)
    for i in range(len(standing)):
        _unit(painting, marine_xy[i], BLUE if standing[i] else GREY)
        painting.label(str(i + 1) if standing[i] else "x", _point(marine_xy[i]), WHITE, 13)
        if standing[i]:
            painting.bar(_above(marine_xy[i]), 1.2, 0.2, float(marines.health[i]) / MARINE.health)
    left = max(0.0, (LAST_LOOP - int(state.loops)) / LOOPS_PER_SECOND)
    painting.header(
        f"{left:.0f} s left     marines {standing.sum()} of {len(standing)}     "
        f"zerglings {crawling.sum()} of {len(crawling)}, in sight {(crawling & seen).sum()} "
        "(the rest are faint)",
        INK,
        PAPER,
    )
    return painting.picture()


def _point(xy: np.ndarray) -> Point:
    return float(xy[0]), float(xy[1])


def _above(xy: np.ndarray) -> Point:
    return float(xy[0]), float(xy[1]) + 0.85


def _unit(painting: Painting, xy: np.ndarray, colour: tuple[int, int, int]) -> None:
    # Drawn half as large again as it is, to be seen.
    painting.discs([_point(xy)], 1.5 * MARINE.radius, colour)


def _order(painting: Painting, state: Any, i: int, xy: np.ndarray, zergling_xy: np.ndarray) -> None:
    """Where a marine goes, or what it shoots at."""
    order = int(state.marines.order[i])
    if order == MOVE:
        painting.dashes(
            _point(xy), _point(np.asarray(state.marines.order_xy)[:, i] / GRAINS), PALE_BLUE
        )
    target = int(state.marines.order_target[i])
    if order == ATTACK and float(state.zerglings.health[target]) > 0:
        near = np.linalg.norm(zergling_xy[target] - xy) <= REACH
        trace = painting.line if near else painting.dashes
        trace(_point(xy), _point(zergling_xy[target]), SHOT)
