from itertools import combinations

import numpy as np
import pytest

from crisptree.crisp import Actions, CrispTree
from crisptree.crispen.list_moves import places, with_rules_exchanged

NAMES = ("a", "b", "c")
LIST = CrispTree.from_nested(
    ("a", 0.1, 0, ("b", 0.2, ("c", 0.3, 2, ("a", -0.4, 1, 0)), 1)), NAMES, ("x", "y", "z")
)


def said(tree: CrispTree) -> list[tuple]:
    """Feature, threshold, side and action of each rule."""
    return [
        (
            int(tree.feature[place.node]),
            float(tree.threshold[place.node]),
            place.answer,
            tree.leaf_at(place.leaf),
        )
        for place in places(tree)
    ]


def test_rules_keep_what_they_say_and_change_places():
    before = said(LIST)
    assert [rule[:3] for rule in before] == [
        (0, 0.1, True),
        (1, 0.2, False),
        (2, 0.3, True),
        (0, -0.4, True),
    ]
    states = np.random.default_rng(0).normal(0, 0.5, size=(500, 3))
    seen = set()
    for seed in range(40):
        moved = with_rules_exchanged(LIST, np.random.default_rng(seed))
        assert moved.is_rule_list and moved.n_nodes == LIST.n_nodes
        pairs = [
            pair
            for pair in combinations(range(4), 2)
            if decided(exchanged(before, *pair), states) == moved.act(states).tolist()
        ]
        assert pairs
        seen.update(pairs)
    assert {(0, 1), (1, 2), (2, 3), (0, 2)} <= seen


def exchanged(rules: list[tuple], one: int, other: int) -> list[tuple]:
    rules = list(rules)
    rules[one], rules[other] = rules[other], rules[one]
    return rules


def decided(rules: list[tuple], states: np.ndarray) -> list[int]:
    """By the first rule that holds; 0 otherwise."""
    return [
        next((leaf.action for f, t, answer, leaf in rules if (x[f] > t) == answer), 0)
        for x in states
    ]


def test_formulas_move_along():
    box = Actions.box(("u",), (-1.0,), (1.0,))
    tree = CrispTree.from_nested(
        ("a", 0.1, [(0.5, {"b": 2.0})], ("b", 0.2, [0.25], [0.0])), NAMES, actions=box
    )
    moved = with_rules_exchanged(tree, np.random.default_rng(0))
    assert [rule[3] for rule in said(moved)] == [rule[3] for rule in said(tree)][::-1]


@pytest.mark.parametrize("nested", [0, ("a", 0.5, 0, 1)])
def test_one_rule_or_none_stays(nested):
    tree = CrispTree.from_nested(nested, NAMES, ("x", "y"))
    assert with_rules_exchanged(tree, np.random.default_rng(0)) is tree
