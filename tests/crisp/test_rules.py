import math

from hypothesis import given
from tree_strategies import NESTED, one_of_every_cell, tree_of

from crisptree.crisp import Condition, Rule


@given(NESTED)
def test_exactly_one_rule_holds_and_it_is_the_tree_s(nested):
    tree = tree_of(nested)
    rules = tree.rules()
    assert sorted(rule.leaf for rule in rules) == (tree.feature == -1).nonzero()[0].tolist()
    for observation in one_of_every_cell(tree):
        (rule,) = [rule for rule in rules if rule.holds(observation)]
        assert rule.leaf == tree.apply(observation)
        assert rule.action == tree.predict(observation)[0]


def test_comparisons_of_a_feature_merge_in_the_order_of_the_path():
    tree = tree_of((1, 2.0, 0, (0, 5.0, 1, (1, -1.0, (1, 0.0, 2, 0), 1))))
    assert tree.rules() == (
        Rule((Condition(1, above=2.0),), 0, 1),
        Rule((Condition(1, at_most=2.0), Condition(0, above=5.0)), 1, 3),
        Rule((Condition(1, 0.0, 2.0), Condition(0, at_most=5.0)), 2, 6),
        Rule((Condition(1, -1.0, 0.0), Condition(0, at_most=5.0)), 0, 7),
        Rule((Condition(1, at_most=-1.0), Condition(0, at_most=5.0)), 1, 8),
    )


def test_a_lone_leaf_has_one_rule_without_conditions():
    assert tree_of(2).rules() == (Rule((), 2, 0),)


def test_the_ends_of_an_interval():
    condition = Condition(0, above=1.0, at_most=2.0)
    assert [condition.holds([x]) for x in (1.0, math.nextafter(1.0, 2.0), 2.0, 2.5)] == [
        False,
        True,
        True,
        False,
    ]
    assert Condition(0, at_most=1.0).holds([-math.inf])
    assert Condition(0, above=1.0).holds([math.inf])


def test_a_leaf_out_of_reach_has_a_rule_that_never_holds():
    impossible = tree_of((0, 5.0, (0, 3.0, 0, 1), 2)).rules()[1]
    assert impossible == Rule((Condition(0, above=5.0, at_most=3.0),), 1, 3)
    assert not any(impossible.holds([x]) for x in (2.0, 3.0, 4.0, 5.0, 6.0))
