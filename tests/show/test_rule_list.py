from hypothesis import given
from tree_strategies import LISTS, one_of_every_cell, tree_of

from crisptree.show.rule_list import ListedRule, RuleList, as_rule_list


def test_a_lone_leaf_is_a_list_without_rules():
    assert as_rule_list(tree_of(1)) == RuleList((), 0)


def test_leaves_on_either_side():
    tree = tree_of((0, 1.0, (1, 2.0, 0, 1), 2))
    assert as_rule_list(tree) == RuleList((ListedRule(0, False, 4), ListedRule(1, True, 2)), 3)


def test_a_tree_that_branches_is_none():
    assert as_rule_list(tree_of((0, 1.0, (1, 2.0, 0, 1), (1, 2.0, 0, 1)))) is None


@given(LISTS)
def test_every_rule_list_is_a_list_that_decides_alike(nested):
    tree = tree_of(nested)
    listed = as_rule_list(tree)
    assert listed is not None
    assert len(listed.rules) == tree.n_leaves - 1
    assert all(rule.answer for rule in listed.rules)
    for row in one_of_every_cell(tree):
        applies = [
            rule.leaf
            for rule in listed.rules
            if (row[tree.feature[rule.node]] > tree.threshold[rule.node]) == rule.answer
        ]
        assert [*applies, listed.otherwise][0] == tree.apply(row)
