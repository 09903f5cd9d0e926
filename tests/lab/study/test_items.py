import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from number_study import CONSTANT, LINEAR, MIXED, PARTS, number_definition, states

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.lab.study import make_drawing
from crisptree.lab.study.definition import Definition
from crisptree.lab.study.drawing import cartpole_drawings
from crisptree.lab.study.items import choose_items, decimals_for


@pytest.mark.parametrize(
    ("sizes", "decimals"),
    [
        ([2.0, 2.0], (1, 1)),
        ([1.0, 0.05], (3, 3)),
        ([200.0, 300.0], (0, 0)),
        ([1.0, 1e-9], (4, 4)),
    ],
)
def test_the_smallest_feature_shows_two_digits(sizes, decimals):
    states = np.linspace(-1, 1, 101)[:, None] * np.array(sizes) + 1e-12
    assert decimals_for(states) == decimals


def test_whole_numbers_have_no_decimals():
    states = np.array([[0.0, 0.31], [1.0, 0.12], [1.0, -0.48]])
    assert decimals_for(states) == (0, 2)
    assert decimals_for(np.zeros((5, 2))) == (0, 0)


@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 12))
@settings(max_examples=12)
def test_items_are_balanced_varied_and_unambiguous(visited, seed, count):
    decimals = decimals_for(visited)
    for drawing in cartpole_drawings():
        items = choose_items(drawing, visited, decimals, (), count, np.random.default_rng(seed))
        assert len(items) == count + 1
        assert len({item.state for item in items}) == count + 1
        answers = Counter(item.answer for item in items)
        assert max(answers.values()) - min(answers.values() or [0]) <= 1 or len(answers) == 1
        states = np.array([[float(text) for text in item.state] for item in items])
        expected = [item.answer[0] for item in items]
        assert (drawing.actions(states) == expected).all()
        assert (drawing.policy.predict(states)[0] == expected).all()
        if drawing.kind == "tree" and count == 5:
            assert len({item.place for item in items}) == 4  # every leaf


def test_one_seed_one_choice(visited):
    drawing = cartpole_drawings()[0]
    drawn = [
        choose_items(drawing, visited, (3, 3, 3, 3), (), 5, np.random.default_rng(seed))
        for seed in (1, 1, 2)
    ]
    assert drawn[0] == drawn[1] != drawn[2]


def test_no_state_reads_minus_zero(visited):
    items = choose_items(
        cartpole_drawings()[2], visited * 0.01, (2, 2, 2, 2), (), 3, np.random.default_rng(0)
    )
    assert all("-0.00" not in item.state for item in items)


def test_a_policy_with_one_action_asks_nothing():
    tree = CrispTree.from_nested(("a", 5.0, 1, 0), ("a",), ("left", "right"))
    states = np.linspace(-1, 1, 50)[:, None]
    with pytest.raises(CrisptreeError, match="always takes one action"):
        choose_items(make_drawing(tree), states, (2,), (), 5, np.random.default_rng(0))


def test_too_few_states_are_refused():
    tree = CrispTree.from_nested(("a", 0.0, 1, 0), ("a",), ("left", "right"))
    states = np.array([[-0.5], [0.5], [0.7]])
    with pytest.raises(CrisptreeError, match="only 3 states"):
        choose_items(make_drawing(tree), states, (1,), (), 5, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("tree", "tolerances"),
    [(CONSTANT, (0.08,)), (LINEAR, (0.08,)), (MIXED, (0.08, 0.2))],
    ids=["constant", "linear", "mixed"],
)
def test_a_number_asked_for_is_near_the_policys_own(tree, tolerances):
    drawing = make_drawing(tree)
    items = choose_items(drawing, states(), (2, 2), tolerances, 7, np.random.default_rng(0))
    shown = np.array([[float(text) for text in item.state] for item in items])
    assert (np.abs(tree.act(shown) - [item.answer for item in items]) <= tolerances).all()
    assert len({item.place for item in items}) == tree.n_leaves


def test_whole_numbers_are_never_in_doubt():
    """A comparison with 0.5 is clear for a flag, though it is closer than one."""
    visited = np.random.default_rng(0).integers(0, [2, 3], size=(100, 2)).astype(float)
    items = choose_items(make_drawing(PARTS), visited, (0, 0), (), 4, np.random.default_rng(0))
    assert {item.place for item in items} == {leaf.node for leaf in PARTS.leaves()}
    assert all(len(item.answer) == 2 for item in items)


def test_a_study_of_numbers_comes_back_through_json():
    definition = number_definition()
    assert {block.tolerances for block in definition.blocks} == {(0.08,)}
    again = Definition.from_dict(json.loads(json.dumps(definition.to_dict())))
    assert again.to_dict() == definition.to_dict()
    assert [block.fields for block in again.blocks] == [b.fields for b in definition.blocks]
