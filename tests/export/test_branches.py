import math

import numpy as np
from export_trees import grown, long_list
from hypothesis import given
from tree_strategies import NESTED, one_of_every_cell, tree_of

from crisptree.export.branches import If, statements


def run(tree, state):
    """The statements as a processor of indented text would read them."""
    level = 0
    for statement in statements(tree):
        if statement.level > level:
            continue
        level = statement.level
        if isinstance(statement, If):
            feature, threshold, _, _ = tree.nodes[statement.node]
            level += (state[feature] > threshold) == statement.answer
        else:
            return statement.leaf


@given(NESTED)
def test_the_statements_reach_the_leaves_of_the_tree(nested):
    tree = tree_of(nested)
    for state in one_of_every_cell(tree)[:200]:
        assert run(tree, state) == tree.apply(state)


def test_a_list_stays_flat():
    assert max(statement.level for statement in statements(long_list(5000))) == 1


def test_indentation_grows_with_the_logarithm_of_the_leaves():
    for seed in range(20):
        tree = grown(100, seed)
        assert max(statement.level for statement in statements(tree)) <= math.log2(100)


def test_every_leaf_is_returned_once():
    tree = grown(64, 0)
    leaves = [each.leaf for each in statements(tree) if not isinstance(each, If)]
    assert sorted(leaves) == np.flatnonzero(tree.feature < 0).tolist()
