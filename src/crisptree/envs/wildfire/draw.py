"""A picture of the wildfire map: the fronts, the drones, and the distances the reward counts."""

from typing import Any

import numpy as np

from crisptree.envs.paint import Painting, Point

GROUND, GRID = (226, 232, 214), (212, 220, 198)
TEXT, PAPER = (40, 44, 40), (247, 248, 244)
GLOW, FLAME, EMBER = (250, 160, 40, 90), (235, 95, 25), (120, 20, 10)
BODY, ROTOR = (25, 75, 140), (70, 130, 200)
SIDE = 560


def draw(env: Any, state: Any) -> np.ndarray:
    """The picture of a `Wildfire` in a `WildfireState`; `env` imports this module."""
    side = env.map_side
    scale = side / 500
    painting = Painting((0, 0), (side, side), SIDE / side, GROUND)
    for line in np.linspace(0, side, 11)[1:-1]:
        painting.line((line, 0), (line, side), GRID, 1)
        painting.line((0, line), (side, line), GRID, 1)
    fronts, drones = np.asarray(state.fronts) / env.grains, np.asarray(state.drones) / env.grains
    centroids = fronts.mean(axis=-1)
    for front in fronts:
        points: list[Point] = [(x, y) for x, y in front.T]
        painting.discs(points, 16 * scale, GLOW)
        painting.discs(points, 5 * scale, FLAME)
    distance = np.linalg.norm(centroids[None] - drones[:, None], axis=-1)
    for fire, centroid in enumerate(centroids):
        nearest = drones[np.argmin(distance[:, fire])]
        painting.dashes(tuple(nearest), tuple(centroid), TEXT)
    for fire, centroid in enumerate(centroids):
        painting.discs([tuple(centroid)], 4 * scale, EMBER)
        painting.label(f"fire {fire + 1}", _inside(centroid, -34 * scale, side), EMBER)
    for number, drone in enumerate(drones):
        _drone(painting, drone, scale)
        painting.label(f"drone {number + 1}", _inside(drone, 26 * scale, side), BODY)
    _compass(painting, side - 18 * scale, side - 44 * scale, scale)
    painting.header(
        f"step {int(state.steps)} of {env.horizon}     distances counted: "
        + " + ".join(f"{px:.0f} px" for px in distance.min(axis=0)),
        TEXT,
        PAPER,
    )
    return painting.picture()


def _inside(place: np.ndarray, up: float, side: float) -> Point:
    """Above or below the thing, or on its other side where that would be off the map."""
    there = place[1] + up
    y = there if 0 < there < side else place[1] - up
    return float(np.clip(place[0], abs(up), side - abs(up))), float(y)


def _compass(painting: Painting, x: float, y: float, scale: float) -> None:
    tip = (x, y + 34 * scale)
    painting.line((x, y + 10 * scale), tip, TEXT)
    for wing in (-6 * scale, 6 * scale):
        painting.line((x + wing, y + 26 * scale), tip, TEXT)
    painting.label("N", (x, y), TEXT, 22)


def _drone(painting: Painting, place: np.ndarray, scale: float) -> None:
    x, y = float(place[0]), float(place[1])
    arm = 8 * scale
    for dx, dy in ((arm, arm), (arm, -arm), (-arm, arm), (-arm, -arm)):
        painting.line((x, y), (x + dx, y + dy), BODY, 2.5)
        painting.discs([(x + dx, y + dy)], 5.5 * scale, ROTOR)
    painting.discs([(x, y)], 5 * scale, BODY)
