import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_strategies import NESTED, tree_of

from crisptree.show.tidy_layout import tidy


@given(NESTED, st.integers(0, 20))
def test_no_two_nodes_of_a_level_come_closer_than_the_gap(nested, gap):
    tree = tree_of(nested)
    sizes = [10.0 if row[0] >= 0 else 4.0 for row in tree.nodes]
    centres = tidy(tree, sizes, float(gap))
    levels: dict[int, list[int]] = {}
    for visit in tree.walk():
        levels.setdefault(visit.depth, []).append(visit.node)  # the TRUE side comes first
    for level in levels.values():
        for left, right in itertools.pairwise(level):
            distance = centres[right] - centres[left]
            assert distance >= (sizes[left] + sizes[right]) / 2 + gap - 1e-6


@given(NESTED)
def test_a_parent_sits_midway_above_its_children(nested):
    tree = tree_of(nested)
    centres = tidy(tree, [1.0] * tree.n_nodes, 1.0)
    assert centres[0] == 0.0
    for node, (feature, _, if_true, if_false) in enumerate(tree.nodes):
        if feature >= 0:
            assert centres[node] == pytest.approx((centres[if_true] + centres[if_false]) / 2)


def test_siblings_are_as_close_as_they_may_be():
    tree = tree_of((0, 1.0, (0, 1.0, 0, 1), (0, 1.0, 0, 1)))
    centres = tidy(tree, [2.0] * 7, 1.0)
    assert centres == [0.0, -3.0, -4.5, -1.5, 3.0, 1.5, 4.5]


def test_a_deep_side_tucks_in_below_a_shallow_one():
    """The leaf on the left leaves room below it, so the right side need not step aside."""
    deep = (0, 1.0, 0, (0, 1.0, (0, 1.0, 0, 1), (0, 1.0, 0, 1)))
    centres = tidy(tree_of(deep), [2.0] * 9, 1.0)
    assert centres[1] == -1.5
    assert min(centres) < -1.5
