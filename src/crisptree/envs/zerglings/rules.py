"""The mini-game's numbers: the arena, the clock and the two kinds of unit. No JAX here.

Lengths are map units with x east and y north; places are whole numbers of grains, 512 to the unit,
as the game itself counts in fixed point. So squared distances are exact, and a fight goes the same
way to the last bit, however the compiler arranges it.

The map's clock runs at sixteen game loops a second and a unit's data are those of the game's
Normal speed; the faster figures that players quote would make every unit 1.4 times too quick.
"""

from dataclasses import dataclass

GRAINS = 512
LOOPS_PER_SECOND = 16.0
LOOPS_PER_STEP = 8
LAST_LOOP = 2880
"""The map's timer: 180 game seconds."""
WEST, EAST, SOUTH, NORTH = 10, 54, 12, 44
CENTRE_X, CENTRE_Y = 32, 28
N_MARINES = 3
N_ZERGLINGS = 25
MOVE_DISTANCE = 5
"""How far ahead a move order points; a step's walk covers a little over one unit of it."""


@dataclass(frozen=True)
class Unit:
    health: float
    damage: float
    range: float
    """Between the units' edges."""
    sight: float
    radius: float
    period: float
    """Game loops from one shot to the next."""
    speed: float
    """Map units a game loop."""
    regeneration: float
    """Health a game loop."""


MARINE = Unit(
    health=45.0,
    damage=6.0,
    range=5.0,
    sight=9.0,
    radius=0.375,
    period=0.8608 * LOOPS_PER_SECOND,
    speed=2.25 / LOOPS_PER_SECOND,
    regeneration=0.0,
)
ZERGLING = Unit(
    health=35.0,
    damage=5.0,
    range=0.1,
    sight=8.0,
    radius=0.375,
    period=0.696 * LOOPS_PER_SECOND,
    speed=2.9531 / LOOPS_PER_SECOND,
    regeneration=0.27 / LOOPS_PER_SECOND,
)
