from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.lab.study import make_aid
from crisptree.lab.study.aids import cartpole_aids
from crisptree.lab.study.items import Recorder, choose_items, decimals_for


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
    for aid in cartpole_aids():
        items = choose_items(aid, visited, decimals, count, np.random.default_rng(seed))
        assert len(items) == count + 1
        assert len({item.state for item in items}) == count + 1
        answers = Counter(item.answer for item in items)
        assert max(answers.values()) - min(answers.values() or [0]) <= 1 or len(answers) == 1
        states = np.array([[float(text) for text in item.state] for item in items])
        assert (aid.actions(states) == [item.answer for item in items]).all()
        assert (aid.policy.predict(states)[0] == [item.answer for item in items]).all()
        if aid.kind == "tree" and count == 5:
            assert len({item.place for item in items}) == 4  # every leaf


def test_one_seed_one_choice(visited):
    aid = cartpole_aids()[0]
    drawn = [
        choose_items(aid, visited, (3, 3, 3, 3), 5, np.random.default_rng(seed))
        for seed in (1, 1, 2)
    ]
    assert drawn[0] == drawn[1] != drawn[2]


def test_no_state_reads_minus_zero(visited):
    items = choose_items(
        cartpole_aids()[2], visited * 0.01, (2, 2, 2, 2), 3, np.random.default_rng(0)
    )
    assert all("-0.00" not in item.state for item in items)


def test_a_policy_with_one_action_asks_nothing():
    tree = CrispTree.from_nested(("a", 5.0, 1, 0), ("a",), ("left", "right"))
    states = np.linspace(-1, 1, 50)[:, None]
    with pytest.raises(CrisptreeError, match="always takes one action"):
        choose_items(make_aid(tree), states, (2,), 5, np.random.default_rng(0))


def test_too_few_states_are_refused():
    tree = CrispTree.from_nested(("a", 0.0, 1, 0), ("a",), ("left", "right"))
    states = np.array([[-0.5], [0.5], [0.7]])
    with pytest.raises(CrisptreeError, match="only 3 states"):
        choose_items(make_aid(tree), states, (1,), 5, np.random.default_rng(0))


def test_a_recorder_plays_like_the_policy_and_remembers():
    policy = cartpole_aids()[0].policy
    recorder = Recorder(policy)
    states = np.random.default_rng(0).normal(size=(7, 4)).astype(np.float32)
    assert (recorder.predict(states)[0] == policy.predict(states)[0]).all()
    recorder.predict(states[:2])
    assert recorder.visited().tolist() == [*states.tolist(), *states[:2].tolist()]
