import math

import numpy as np
from verify_trees import STEADY

from crisptree.verify.properties import Mirror
from crisptree.verify.search import takes
from crisptree.verify.space import Space


def test_the_action_of_a_fixed_point_is_the_tree_s():
    for state in np.random.default_rng(0).normal(0, 0.1, (20, 4)).tolist():
        space = Space(4, np.float64, math.inf)
        for value, number in zip(space.point.values, state, strict=True):
            space.require(value == number)
        space.require(space.action(STEADY, space.point)[0] != takes(STEADY, state)[0])
        assert space.solution() is None


def test_mirroring_twice_changes_nothing():
    space = Space(2, np.float64, math.inf)
    mirror = Mirror((1, 0), (-1, -1), (0,))
    twice = space.point.mirrored(mirror).mirrored(mirror)
    assert (twice.signs, twice.axes) == ([1, 1], [0, 1])


def test_a_raised_point_shares_all_but_one_axis():
    space = Space(3, np.float64, math.inf)
    assert space.point.raised(1).axes == [0, 3, 2]
