from dataclasses import replace

import numpy as np
import pytest
from cartpole_trees import ANGLE, GOOD, LEFT, RIGHT, SPIN, TASK, cartpole
from hypothesis import given
from hypothesis import strategies as st
from tree_strategies import LEAVES, inner, tree_of

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.crisp.signature import Actions
from crisptree.crispen.config import SearchConfig
from crisptree.crispen.prune import rows_by_node
from crisptree.crispen.search import WINDOW, inserted, search, together, variant
from crisptree.crispen.select import Lead, Selection

QUICK = SearchConfig(sweeps=6, rounds=(16, 64), confirm=64, width=8, patience=4)
OFF = cartpole((SPIN, 0.5, RIGHT, (SPIN, -0.5, (ANGLE, 0.08, RIGHT, LEFT), LEFT)))
"""GOOD with one threshold to one side."""
SPLITS = inner(st.recursive(LEAVES, inner, max_leaves=12))


def some_states(n_features: int, n: int = 200) -> np.ndarray:
    return np.random.default_rng(0).normal(0, 0.5, size=(n, n_features)).astype(np.float32)


def looked(tree: CrispTree, settings: SearchConfig = QUICK, seed: int = 0, **options) -> CrispTree:
    selection, rng = Selection(TASK, seed), np.random.default_rng(seed)
    return search(tree, settings, selection, lambda tree: some_states(4), rng, **options)


def variant_of(tree: CrispTree, states, reach: float, rng) -> CrispTree:
    return variant(tree, states, dict(rows_by_node(tree, states)), reach, rng)


def mean_return(tree: CrispTree) -> float:
    return float(Selection(TASK, 999).returns([tree], 256).mean())


@pytest.fixture(scope="module")
def bettered() -> CrispTree:
    return looked(OFF)


def test_a_threshold_to_one_side_is_put_right(bettered):
    assert mean_return(bettered) > mean_return(OFF) + 50


def test_a_tree_that_cannot_be_bettered_comes_back_as_it_was():
    asked = []
    same = looked(GOOD, report=lambda sweep, tree: asked.append(sweep))
    assert same.to_dict() == GOOD.simplify().to_dict()
    assert asked == [1, 2, 3, 4]  # then its patience is over


def test_gains_by_luck_end_the_search():
    """Every sweep finds a change that seems to gain, and together they gain nothing."""

    class Lucky(Selection):
        def ahead(self, tree, others, rounds, keep=0.5):
            return [Lead(0, 1.0, 0.1)]

        def returns(self, trees, episodes, least=2, most=None):
            return np.zeros((len(trees), episodes))

    seen, settings = [], replace(QUICK, sweeps=100)
    states, rng = some_states(4), np.random.default_rng(0)
    report = lambda sweep, tree: seen.append(tree)
    tree = search(OFF, settings, Lucky(TASK, 0), lambda tree: states, rng, report=report)
    assert tree == OFF.simplify() and len(seen) == WINDOW
    assert seen[-1] != OFF.simplify()


@pytest.mark.parametrize("wrong", [{"patience": 0}, {"lost": 0}, {"lost_share": 1.5}])
def test_settings_that_cannot_be_are_refused(wrong):
    with pytest.raises(CrisptreeError, match="patience must be at least 1"):
        SearchConfig(**wrong)


def test_the_same_seed_the_same_tree(bettered):
    assert looked(OFF) == bettered
    assert looked(OFF, seed=1) != bettered


def test_a_lone_leaf_can_only_take_another_action():
    assert looked(cartpole(LEFT)).n_leaves == 1


def test_the_search_ends_when_it_is_late():
    asked: list[int] = []
    looked(OFF, report=lambda sweep, tree: asked.append(sweep), is_late=lambda: True)
    assert asked == []


def test_what_earns_as_much_as_the_tree_changes_nothing(monkeypatch):
    monkeypatch.setattr(Selection, "returns", lambda self, trees, n: np.ones((len(trees), n)))
    assert looked(OFF).to_dict() == OFF.simplify().to_dict()


def test_a_new_question_comes_for_one_that_goes():
    """A tree without the question that matters gets it, and stays as small as asked."""
    blind = cartpole((ANGLE, 3.0, RIGHT, (ANGLE, 0.0, RIGHT, LEFT)))
    settings = replace(QUICK, sweeps=30, width=24, patience=30)
    found = looked(blind, settings, most_leaves=4)
    assert found.n_leaves <= 4 and mean_return(found) > mean_return(blind) + 200


def test_a_list_stays_a_list():
    settings = replace(QUICK, sweeps=12, width=24, patience=12)
    start = cartpole((ANGLE, 0.1, RIGHT, LEFT))
    found = looked(start, settings, most_leaves=5, is_list=True)
    assert found.is_rule_list and 2 < found.n_leaves <= 5


@given(SPLITS, st.integers(0, 1000), st.booleans())
def test_an_inserted_question_leaves_the_other_side_as_it_was(nested, seed, on_true):
    tree, rng = tree_of(nested), np.random.default_rng(seed)
    states = some_states(tree.n_features)
    node, donor = int(rng.integers(tree.n_nodes)), int(np.flatnonzero(tree.feature < 0)[0])
    feature = int(rng.integers(tree.n_features))
    larger = inserted(tree, node, feature, 0.1, donor, on_true)
    assert larger.n_leaves == tree.n_leaves + 1
    reached = dict(rows_by_node(tree, states, leaves=True)).get(node, np.zeros(0, int))
    is_new = np.zeros(len(states), bool)
    is_new[reached] = (states[reached, feature] > 0.1) == on_true
    expected = np.where(is_new, tree.action[donor], tree.act(states))
    np.testing.assert_array_equal(larger.act(states), expected)


def test_changes_come_together_one_a_node():
    def moved(node: int, threshold: float) -> CrispTree:
        thresholds = GOOD.threshold.copy()
        thresholds[node] = threshold
        return replace(GOOD, threshold=thresholds)

    first, second = np.flatnonzero(GOOD.feature >= 0)[:2]
    steps = together(GOOD, [moved(first, 0.1), GOOD, moved(first, 0.2), moved(second, 0.3)])
    asked = [(step.threshold[first], step.threshold[second]) for step in steps]
    assert asked == [(0.1, GOOD.threshold[second]), (0.1, 0.3)]


@given(SPLITS, st.integers(0, 1000), st.floats(0.001, 1.0))
def test_a_variant_is_a_tree_of_the_same_shape_with_one_change(nested, seed, reach):
    tree = tree_of(nested)
    other = variant_of(tree, some_states(tree.n_features), reach, np.random.default_rng(seed))
    np.testing.assert_array_equal(tree.feature < 0, other.feature < 0)
    asks = (tree.feature != other.feature) | (tree.threshold != other.threshold)
    turned = tree.if_true != other.if_true
    assert (asks | turned | (tree.action != other.action)).sum() <= 1
    np.testing.assert_array_equal(tree.if_true + tree.if_false, other.if_true + other.if_false)
    CrispTree.from_dict(other.to_dict())  # which checks everything


TORQUE = Actions.box(("torque",), (-2.0,), (2.0,))
LINEAR = CrispTree.from_nested(
    ("angle", 0.0, [(0.5, {"angle": -1.0, "spin": 2.0})], [-1.0]), ("angle", "spin"), actions=TORQUE
)


@given(st.integers(0, 10_000))
def test_real_actions_are_moved_within_their_bounds(seed):
    """One leaf, or one question, is another; gains are changed or dropped."""
    other = variant_of(LINEAR, some_states(2), 0.5, np.random.default_rng(seed))
    assert other.actions == TORQUE
    changed = together(LINEAR, [other])
    assert changed == ([other] if other != LINEAR else [])


def test_gains_are_dropped_now_and_then():
    rng = np.random.default_rng(0)
    sizes = {len(variant_of(LINEAR, some_states(2), 0.1, rng).gains[1]) for _ in range(300)}
    assert sizes == {1, 2}


def test_a_line_that_starts_beyond_the_bounds_becomes_a_constant_within_them():
    """Its last gain is dropped, or the other dimension, which has none, is moved."""
    two = Actions.box(("torque", "brake"), (-2.0, 0.0), (2.0, 1.0))
    line = CrispTree.from_nested([(9.0, {"angle": -1.0}), 0.95], ("angle",), actions=two)
    rng = np.random.default_rng(0)
    found = [variant_of(line, some_states(1), 0.5, rng) for _ in range(300)]
    dropped = [tree for tree in found if not any(tree.gains)]
    assert dropped and all(tree.action[0, 0] == 2.0 for tree in dropped)
    assert max(tree.action[0, 1] for tree in found) == 1.0
    assert any(tree.action[0, 0] > 2.0 for tree in found)


def test_all_leaves_become_stronger_or_weaker_now_and_then():
    """By one factor, seen from the middle of the range; gains too."""
    brake = Actions.box(("brake",), (0.0,), (4.0,))
    line = [(1.0, {"angle": 2.0})]
    tree = CrispTree.from_nested(("angle", 0.0, line, [2.5]), ("angle",), actions=brake)
    rng = np.random.default_rng(0)
    found = [variant_of(tree, some_states(1), 0.2, rng) for _ in range(300)]
    scaled = [t for t in found if (t.action != tree.action)[:, 0].sum() == 2]
    assert scaled
    for other in scaled:
        (factor,) = (gain.weight / 2 for own in other.gains for gain in own)
        expected = np.clip(2 + factor * (tree.action[1:, 0] - 2), [-np.inf, 0], [np.inf, 4])
        np.testing.assert_allclose(other.action[1:, 0], expected)
