from dataclasses import replace

import numpy as np
import pytest
from kinds_of_tasks import BOX

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.crisp.derived import derived_feature
from crisptree.crispen.config import EvolveConfig, RuleConfig
from crisptree.crispen.evolve import (
    Numbers,
    RandomSearch,
    Thinning,
    drawn_rules,
    evolve,
    one_rule,
)
from crisptree.crispen.fit import fit_cart
from crisptree.crispen.fit_linear import fit_linear
from crisptree.crispen.select import Selection

STATES = (np.random.default_rng(0).normal(size=(400, 3)) * [0.01, 1, 100] + [0, 5, -300]).astype(
    np.float32
)


def wanted(x: np.ndarray) -> np.ndarray:
    """What earns most in each state."""
    return np.where(x[:, 1:2] > 5.5, [1.0, 2.0], [-1.5, 7.0])


def some_tree(leaf: str) -> CrispTree:
    actions = np.stack([np.tanh(100 * STATES[:, 0]), 5 + 0.02 * (STATES[:, 2] + 300)], 1)
    if leaf == "constant":
        return fit_cart(STATES, actions, None, 4, BOX, 0)
    return fit_linear(STATES, actions, None, 3, BOX, 0, gains=2)


class Nearness(Selection):
    """Trees earn more the nearer they are to what is wanted."""

    def returns(self, trees, episodes, least=2, most=None):
        errors = [np.square(tree.act(STATES) - wanted(STATES)).mean() for tree in trees]
        return -np.repeat(np.array(errors)[:, None], 2, 1)


@pytest.mark.parametrize("leaf", ["constant", "linear"])
def test_the_same_numbers_are_the_same_tree(leaf):
    tree = some_tree(leaf)
    numbers = Numbers.of(tree, STATES)
    same = numbers.with_vector(numbers.vector)
    np.testing.assert_allclose(same.act(STATES), tree.act(STATES), rtol=1e-5, atol=1e-5)
    assert (same.feature == tree.feature).all() and same.n_leaves == tree.n_leaves
    np.testing.assert_allclose(same.threshold, tree.threshold, rtol=1e-6)


@pytest.mark.parametrize("leaf", ["constant", "linear"])
def test_other_numbers_are_another_tree_with_the_same_numbers(leaf):
    numbers = Numbers.of(some_tree(leaf), STATES)
    vector = numbers.vector + 0.1 * np.random.default_rng(1).normal(size=len(numbers.vector))
    moved = numbers.with_vector(vector)
    again = Numbers(moved, numbers.mean, numbers.deviation).vector
    inside = np.abs(vector) < 0.99  # constant leaves are kept within the bounds
    np.testing.assert_allclose(again[inside], vector[inside], rtol=1e-4, atol=1e-4)


def test_thresholds_of_derived_features_move_too():
    sum_of_two = derived_feature(((0, 100.0), (1, 1.0)), BOX.features)
    richer = replace(BOX, features=(*BOX.features, sum_of_two))
    actions = np.where(100 * STATES[:, :1] + STATES[:, 1:2] > 5, [1.0, 2.0], [-1.0, 7.0])
    tree = fit_cart(STATES, actions, None, 2, richer, 0)
    numbers = Numbers.of(tree, STATES)
    same = numbers.with_vector(numbers.vector)
    assert tree.feature[0] == 3
    np.testing.assert_allclose(same.act(STATES), tree.act(STATES), atol=1e-5)


def test_an_ellipsoid_is_descended():
    scale, goal = np.logspace(0, 2, 8), np.arange(8) / 4
    strategy = RandomSearch(np.zeros(8), 0.02, np.random.default_rng(0))
    for _ in range(300):
        drawn = strategy.ask(16)
        strategy.tell(-(scale * np.square(drawn - goal)).sum(1))
    np.testing.assert_allclose(strategy.mean, goal, atol=0.1)


def test_tries_lie_in_pairs_on_both_sides():
    strategy = RandomSearch(np.arange(3.0), 0.1, np.random.default_rng(0))
    one, other = strategy.ask(8).reshape(2, 4, 3)
    np.testing.assert_allclose((one + other) / 2, np.broadcast_to(np.arange(3.0), (4, 3)))


def test_a_step_follows_the_pairs_that_told_most():
    """By hand: of two pairs the one with the best try counts, scaled by its deviation."""
    strategy = RandomSearch(np.zeros(2), 0.1, np.random.default_rng(0))
    (first, _), _ = strategy.ask(4).reshape(2, 2, 2)
    strategy.tell(np.array([3.0, 2.0, 1.0, -9.0]))
    np.testing.assert_allclose(strategy.mean, 0.1 / 1.0 * (3 - 1) * first / 0.1)


@pytest.mark.parametrize("leaf", ["constant", "linear"])
def test_a_tree_comes_nearer_to_what_earns_most(leaf):
    tree, selection = some_tree(leaf), Nearness(BOX, 0)
    settings = EvolveConfig(generations=60, population=16)
    rng = np.random.default_rng(0)
    evolved, score = evolve(tree, settings, selection, STATES, lambda tree: STATES, rng)
    before, after = selection.returns([tree, evolved], 2).mean(1)
    assert after > 0.75 * before and evolved.n_leaves == tree.n_leaves
    assert score == after


def test_an_outcome_is_checked_on_no_more_episodes_than_it_was_found_on():
    class Counting(Nearness):
        def returns(self, trees, episodes, least=2, most=None):
            asked.append((episodes, most))
            return super().returns(trees, episodes, least, most)

    class Careful(Counting):
        def careful(self):
            return self

    asked: list[tuple[int, int | None]] = []
    settings, rng = EvolveConfig(generations=7, population=4), np.random.default_rng(0)
    tree = some_tree("constant")
    evolve(tree, settings, Careful(BOX, 0), STATES, lambda tree: STATES, rng)
    assert asked[-1] == (settings.confirm, 14)  # two episodes in each of seven generations


def test_a_tree_that_earns_no_more_stays_as_it_is():
    class Flat(Selection):
        def returns(self, trees, episodes, least=2, most=None):
            return np.zeros((len(trees), 2))

    tree, seen = some_tree("constant"), []
    settings = EvolveConfig(generations=60, population=16)
    rng = np.random.default_rng(0)
    met = lambda tree: STATES
    report = lambda progress, score: seen.append(progress)
    same, _ = evolve(tree, settings, Flat(BOX, 0), STATES, met, rng, report)
    assert same is tree and seen == [1 / 60]


def test_a_rule_looks_at_all_features_and_does_nothing_yet():
    rule = one_rule(BOX)
    middle = np.add(BOX.actions.low, BOX.actions.high) / 2
    np.testing.assert_allclose(rule.act(STATES), np.tile(middle, (len(STATES), 1)), atol=1e-6)
    assert rule.n_leaves == 1 and len(rule.gains[0]) == 2 * 3


class NearnessToLine(Selection):
    """What is wanted is itself a line, of one feature for each dimension."""

    def returns(self, trees, episodes, least=2, most=None):
        line = np.stack([0.5 * (STATES[:, 1] - 5), 5 + 0.01 * (STATES[:, 2] + 300)], 1)
        errors = [np.square(tree.act(STATES) - line).mean() for tree in trees]
        return -np.repeat(np.array(errors)[:, None], 2, 1)


def test_a_rule_is_found_from_nothing():
    selection, rng = NearnessToLine(BOX, 0), np.random.default_rng(0)
    settings, start = RuleConfig(generations=150), one_rule(BOX)
    rule, _ = evolve(start, settings, selection, STATES, lambda tree: STATES, rng)
    first, last = selection.returns([start, rule], 2).mean(1)
    assert first < last and last > 0.2 * first


def test_rules_are_drawn_near_and_far():
    rules = drawn_rules(BOX, STATES, np.random.default_rng(0))
    numbers = Numbers.of(one_rule(BOX), STATES)
    vectors = np.array([replace(numbers, tree=rule).vector for rule in rules])
    assert np.abs(vectors[:, ~numbers.is_gain]).max() < 1e-6
    vectors = vectors[:, numbers.is_gain]
    lengths = np.linalg.norm(vectors, axis=1).reshape(3, -1).mean(1) / vectors.shape[1] ** 0.5
    np.testing.assert_allclose(lengths, [0.05, 0.2, 0.8], rtol=0.2)


def test_a_rule_ends_with_few_gains():
    """The features that are wanted stay."""
    selection, rng = NearnessToLine(BOX, 0), np.random.default_rng(0)
    settings, met = RuleConfig(generations=200), lambda tree: STATES
    start = one_rule(BOX)
    rule, score = evolve(start, settings, selection, STATES, met, rng, most_gains=1)
    assert sorted((gain.dimension, gain.feature) for gain in rule.gains[0]) == [(0, 1), (1, 2)]
    assert score > 0.2 * selection.returns([start], 2).mean()


def test_of_a_rule_only_gains_move():
    selection, rng = Nearness(BOX, 0), np.random.default_rng(0)
    settings, met, start = RuleConfig(generations=20), lambda tree: STATES, one_rule(BOX)
    rule, _ = evolve(start, settings, selection, STATES, met, rng, is_rule=True)
    before, after = (Numbers.of(each, STATES).vector for each in (start, rule))
    is_gain = Numbers.of(rule, STATES).is_gain
    assert is_gain.tolist() == [False] * 2 + [True] * 6
    np.testing.assert_allclose(after[~is_gain], before[~is_gain], atol=1e-6)
    assert (np.abs(after - before)[is_gain] > 1e-3).sum() > 3


def test_gains_go_once_returns_no_longer_rise():
    thinning = Thinning(8, 3)
    assert [thinning.after(mean, 0.1) for mean in (0.0, 50.0, 90.0, 93.0)] == [8, 8, 8, 6]
    # What is left must have stopped rising again before more goes.
    assert [thinning.after(mean, 0.2) for mean in (20.0, 80.0, 81.0, 70.0, 70.0)] == [6, 6, 5, 5, 4]


def test_gains_go_in_time():
    rising = Thinning(9, 1)
    steps = enumerate((0.0, 0.6, 0.725, 0.85, 1.0))
    assert [rising.after(2.0**n, progress) for n, progress in steps] == [9, 9, 3, 1, 1]


def test_a_thinner_tree_acts_alike_at_the_mean_state():
    numbers = Numbers.of(some_tree("linear"), STATES)
    thinner = numbers.thinned(1).tree
    assert max(len([g for g in own if g.dimension == 0]) for own in thinner.gains) == 1
    at = numbers.mean[None].astype(np.float32)
    np.testing.assert_allclose(thinner.act(at), numbers.tree.act(at), rtol=1e-4, atol=1e-4)


def test_what_cannot_be_is_refused():
    with pytest.raises(CrisptreeError, match="population must be at least 4"):
        EvolveConfig(population=3)


def test_an_evolution_that_gains_nothing_ends_half_way():
    """The time goes to what comes after it."""
    settings = EvolveConfig(generations=60, population=16)

    class Noise(Selection):
        """Returns of few episodes say nothing; on many, whatever comes later is worse."""

        def returns(self, trees, episodes, least=2, most=None):
            if episodes == settings.confirm:
                return -np.arange(float(len(trees)))[:, None]
            return np.random.default_rng(0).normal(size=(len(trees), episodes))

    tree, seen = some_tree("linear"), []
    report = lambda progress, score: seen.append(progress)
    rng, met = np.random.default_rng(0), lambda tree: STATES
    same, _ = evolve(tree, settings, Noise(BOX, 0), STATES, met, rng, report)
    assert same is tree and seen[-1] == 0.5
