"""Which stages come, and which are left out."""

import math

import pytest

from crisptree.pipeline.config import RefineConfig, TrainConfig
from crisptree.pipeline.plan import CUTTING, LEAST_REFINED, LEAST_SECONDS, Leg, legs, next_leg

EVERY = [Leg("first", ()), *(Leg(f"cut-{n}", (), n) for n in (48, 36, 27)), Leg("last", ())]


@pytest.mark.parametrize(
    ("leaves", "seconds", "expected"),
    [
        (60, 1e9, "cut-48"),
        (40, 1e9, "cut-36"),  # there is nothing to cut to 48 leaves
        (36, 1e9, "cut-27"),
        (20, 1e9, "last"),
        (60, 4 * LEAST_SECONDS, "cut-48"),
        (60, 3.9 * LEAST_SECONDS, "cut-36"),  # of what there is no time for, the first is left out
        (60, -3.0, "cut-27"),  # a tree must be as small as was asked for
        (27, -3.0, None),
    ],
)
def test_the_next_leg(leaves, seconds, expected):
    number = next_leg(EVERY, 1, leaves, seconds)
    assert (EVERY[number].name if number < len(EVERY) else None) == expected


def test_after_the_last_cut():
    assert next_leg(EVERY, 4, 60, 1e9) == 4
    assert next_leg(EVERY, 4, 60, 1.0) == next_leg(EVERY, 5, 60, 1e9) == len(EVERY)


@pytest.mark.parametrize(
    ("leaves", "fitting", "expected"),
    [
        (200, 8.0, "cut-160"),  # there is time for all seven
        (200, 3.2, "cut-128"),  # for three: 128, 82 and 53
        (160, 3.2, "cut-102"),  # six are left
        (200, 1.5, "cut-53"),  # for one
        (200, 0.1, "cut-53"),
        (60, 0.5, "cut-53"),
        (200, math.inf, "cut-160"),  # without a budget
    ],
)
def test_where_cuts_take_long_there_are_fewer_and_larger_ones(leaves, fitting, expected):
    sizes = (200, 160, 128, 102, 82, 66, 60, 53)
    every = [Leg("first", ()), *(Leg(f"cut-{n}", (), n) for n in sizes), Leg("last", ())]
    seconds = fitting * 1_000.0 / CUTTING
    assert every[next_leg(every, 2, leaves, seconds, 1_000.0)].name == expected
    # How long the first trees took says nothing about cuts.
    assert every[next_leg(every, 1, 250, max(seconds, 1_000.0), 1_000.0)].name == "cut-200"


@pytest.mark.parametrize(("refined", "counts"), [(1, [4, 4, 8]), (0.5, [2, 2, 4]), (0.2, [2])])
def test_refinements_after_each_cut(refined, counts):
    """Twice as many after the last cut; fewer where steps are few, and then fewer cuts."""
    refine = RefineConfig(cycles=4, share=0.1)
    config = TrainConfig(steps=int(refined * LEAST_REFINED / refine.share), refine=refine)
    cuts = [leg for leg in legs("direct", config) if leg.size is not None][-3:]
    assert [len(leg.stages) - 1 for leg in cuts] == counts
    names = [stage.name for leg in legs("direct", config) for stage in leg.stages]
    assert len(set(names)) == len(names)
