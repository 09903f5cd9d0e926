import gymnasium as gym
import numpy as np
import pytest
from kinds_of_tasks import BOX, task_with

from crisptree.crispen.fit import fit_cart
from crisptree.crispen.fit_linear import fit_linear, refitted, sparse_line, with_linear_leaves
from crisptree.crispen.prune import cut_away, cuts

LOW, HIGH = np.asarray(BOX.actions.low), np.asarray(BOX.actions.high)


def some_states(n: int = 3000) -> np.ndarray:
    """Features of very different units."""
    random = np.random.default_rng(0)
    return (random.normal(size=(n, 3)) * [0.01, 1.0, 100.0] + [0, 5, -300]).astype(np.float32)


def kinked(x: np.ndarray) -> np.ndarray:
    """Two lines on either side of b = 5.3, within the bounds."""
    left = np.stack([20 * x[:, 0], 5 + 0.001 * (x[:, 2] + 300)], 1)
    right = np.stack([-30 * x[:, 0] + 0.001 * (x[:, 2] + 300), 2 + 0.1 * x[:, 1]], 1)
    return np.where(x[:, 1:2] > 5.3, right, left)


def test_a_tree_of_lines_is_found():
    x = some_states()
    tree = fit_linear(x, kinked(x), None, 2, BOX, 0, gains=2)
    assert tree.n_leaves == 2 and tree.feature[0] == 1
    assert tree.threshold[0] == pytest.approx(5.3, abs=0.1)
    # Thresholds are tried at even shares of the states, so a few lie on the wrong side.
    wrong = np.abs(tree.act(x) - kinked(x)).max(1) > 0.05
    assert wrong.mean() < 0.05


def test_lines_need_fewer_leaves_than_constants():
    x = some_states()

    def error(tree):
        return float(np.square((tree.act(x) - kinked(x)) / (HIGH - LOW)).mean())

    assert error(fit_linear(x, kinked(x), None, 4, BOX, 0, gains=2)) < 0.2 * error(
        fit_cart(x, kinked(x), None, 16, BOX, 0)
    )


@pytest.mark.parametrize("gains", [1, 2, 3])
def test_no_dimension_has_more_gains_than_asked_for(gains):
    x = some_states()
    tree = fit_linear(x, kinked(x), None, 5, BOX, 0, gains=gains)
    assert 2 <= tree.n_leaves <= 5
    for terms in tree.gains:
        dimensions = [term[0] for term in terms]
        assert max(map(dimensions.count, dimensions), default=0) <= gains


def test_a_line_beyond_the_bounds_is_recovered_from_clipped_labels():
    x = some_states()
    truth = 400 * x[:, 0] + 0.5 * (x[:, 1] - 5)
    labels = np.clip(truth, -2, 2)
    assert (np.abs(labels) == 2).mean() > 0.3
    line = sparse_line(x, labels, 2, (-2.0, 2.0))
    assert set(line.features) == {0, 1}
    said = np.clip(line(x), -2, 2)
    assert (
        np.abs(said - labels).mean()
        < 0.1 * np.abs(np.clip(plain(x, labels), -2, 2) - labels).mean()
    )


def plain(x: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Least squares that takes labels at the bounds as they are."""
    design = np.concatenate([np.ones((len(x), 1)), x[:, :2]], 1)
    return design @ np.linalg.lstsq(design, labels, rcond=None)[0]


def test_an_exact_line_is_fitted_exactly():
    x = some_states()
    line = sparse_line(x, 1.5 - 30 * x[:, 0] + 0.002 * x[:, 2], 3, (-100.0, 100.0))
    np.testing.assert_allclose(line(x), 1.5 - 30 * x[:, 0] + 0.002 * x[:, 2], atol=1e-4)


def test_what_tells_nothing_gets_a_constant():
    x = np.repeat(some_states(1), 50, 0)
    line = sparse_line(x, np.linspace(0, 1, 50), 2, (-2.0, 2.0))
    assert line.features == () and line.offset == pytest.approx(0.5)
    tree = fit_linear(x, np.full((50, 2), 1.0), None, 8, BOX, 0, gains=2)
    assert tree.n_leaves == 1
    np.testing.assert_allclose(tree.act(x), 1.0)


def test_leaves_of_a_given_tree_become_linear():
    x = some_states()
    tree = fit_cart(x, kinked(x), None, 3, BOX, 0)
    linear = with_linear_leaves(tree, x, kinked(x), 2)
    assert (linear.feature == tree.feature).all() and linear.gains
    before, after = (np.square(each.act(x) - kinked(x)).mean() for each in (tree, linear))
    assert after < before


def test_lines_are_fitted_again_where_a_cut_moved_states():
    x = np.random.default_rng(0).normal(size=(4_000, 3)).astype(np.float32)
    curved = np.stack([np.sin(2 * x[:, 0]), 5 + x[:, 0] * x[:, 1]], 1)
    tree = fit_linear(x, curved, None, 8, BOX, 0, gains=2)
    cut = cuts(tree, x)[3]
    smaller = cut_away(tree, cut.node, cut.child)
    again = refitted(smaller, tree, x)
    assert again.n_leaves <= smaller.n_leaves < tree.n_leaves
    errors = [np.square(each.act(x) - tree.act(x)).mean() for each in (smaller, again)]
    assert errors[1] < 0.7 * errors[0]
    leaf, wrong = smaller.apply(x), (smaller.act(x) != tree.act(x)).any(1)
    untouched = ~np.isin(leaf, leaf[wrong])
    assert 0 < untouched.sum() < len(x)
    np.testing.assert_array_equal(again.act(x)[untouched], tree.act(x)[untouched])
    assert refitted(tree, tree, x) == tree.simplify()


def test_bounds_need_not_hold_zero():
    """Where a leaf is constant, what it holds lies within the bounds all the same."""
    task = task_with(gym.spaces.Box(np.array([5, -3], np.float32), np.array([5.5, -2], np.float32)))
    x = some_states()
    wanted = np.clip(kinked(x), task.actions.low, task.actions.high)
    wanted[:, 1] = -2.5
    tree = fit_linear(x, wanted, None, 4, task, 0, gains=1)
    np.testing.assert_allclose(tree.act(x)[:, 1], -2.5)
    assert (tree.act(x) >= task.actions.low).all() and (tree.act(x) <= task.actions.high).all()
