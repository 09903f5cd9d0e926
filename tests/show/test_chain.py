from hypothesis import given
from tree_strategies import LISTS, one_of_every_cell, tree_of

from crisptree.show.chain import Chain, Link, as_chain


def test_a_lone_leaf_is_a_chain_without_links():
    assert as_chain(tree_of(1)) == Chain((), 0)


def test_leaves_on_either_side():
    tree = tree_of((0, 1.0, (1, 2.0, 0, 1), 2))
    assert as_chain(tree) == Chain((Link(0, False, 4), Link(1, True, 2)), 3)


def test_a_tree_that_branches_is_none():
    assert as_chain(tree_of((0, 1.0, (1, 2.0, 0, 1), (1, 2.0, 0, 1)))) is None


@given(LISTS)
def test_every_rule_list_is_a_chain_that_decides_alike(nested):
    tree = tree_of(nested)
    chain = as_chain(tree)
    assert chain is not None
    assert len(chain.links) == tree.n_leaves - 1
    assert all(link.answer for link in chain.links)
    for row in one_of_every_cell(tree):
        applies = [
            link.leaf
            for link in chain.links
            if (row[tree.feature[link.node]] > tree.threshold[link.node]) == link.answer
        ]
        assert [*applies, chain.otherwise][0] == tree.apply(row)
