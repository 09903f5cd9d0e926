from dataclasses import replace

import numpy as np
import pytest

from crisptree.lab.analysis.chain_setting import PAPER, Setting
from crisptree.lab.analysis.chain_tree import main_text_leaves
from crisptree.lab.analysis.critical_points import Zero, phi_grid
from crisptree.lab.analysis.exact_policy_gradient import evaluate, policy_gradient
from crisptree.lab.analysis.exact_q_learning import HANDLINGS, q_learning
from crisptree.lab.analysis.update_curves import (
    Learning,
    initial_phis,
    integral,
    is_optimal,
    iterate_updates,
    normalised,
    policy_gradient_curves,
    q_learning_curves,
)

GRID = phi_grid(PAPER, -2.0, 7.0)


def test_the_integral_of_the_gradient_is_the_value():
    for setting in (PAPER, Setting(n=9, istar=4, alpha=30.0, p=0.9, horizon=12)):
        grid = phi_grid(setting, 0.0, setting.n + 1.0)
        (found,) = evaluate(setting, grid, (setting.istar,), "from-start")
        np.testing.assert_allclose(
            integral(grid, found.update.total), found.value - found.value[0], atol=1e-3
        )


def test_the_integral_takes_jumps_as_they_are():
    stairs = np.floor(GRID)
    expected = [x * np.floor(x) - np.floor(x) * (np.floor(x) + 1) / 2 + 1 for x in GRID]
    reached = integral(GRID, stairs)
    np.testing.assert_allclose(reached - reached[0], np.array(expected) - expected[0], atol=1e-9)


def test_normalised():
    np.testing.assert_array_equal(normalised(np.array([3.0, 5.0, 4.0])), [0, 1, 0.5])
    np.testing.assert_array_equal(normalised(np.full(3, 7.0)), [0, 0, 0])


def test_policy_gradients_optimality_follows_the_value():
    for curve in policy_gradient_curves(PAPER, (2, 3), GRID):
        assert curve.distance_to_value < 0.01
        top = curve.phi[curve.shown][curve.optimality.argmax()]
        assert abs(top - curve.zeros[0].phi) < 0.02
        (height,) = curve.optimality_at_zeros
        assert height is not None
        assert height > 0.999


def test_zeros_outside_the_range_shown_have_no_height():
    (curve,) = policy_gradient_curves(PAPER, (2,), GRID)
    outside = replace(curve, zeros=(Zero(-1.5, "smooth", True), *curve.zeros))
    assert outside.optimality_at_zeros[0] is None
    assert outside.optimality_at_zeros[1:] == curve.optimality_at_zeros


def test_q_learnings_optimality_peaks_at_every_attracting_zero():
    curves = q_learning_curves(PAPER, (2,), GRID, main_text_leaves(PAPER))
    assert [curve.terminal for curve in curves] == list(HANDLINGS)
    for curve in curves:
        assert curve.optimality.min() == 0
        assert curve.optimality.max() == 1
        for zero in curve.zeros:
            places = zero.phi + np.array([0.0, -0.05, 0.05])
            here, *beside = np.interp(places, curve.phi[curve.shown], curve.optimality)
            assert all((here >= other) == zero.attracts for other in beside)


def test_only_standard_handling_has_its_single_peak_at_the_optimum():
    by_name = {
        curve.terminal.name: curve
        for curve in q_learning_curves(PAPER, (3,), GRID, main_text_leaves(PAPER))
        if curve.terminal is not None
    }
    peaks = {name: sum(z.attracts for z in curve.zeros) for name, curve in by_name.items()}
    assert peaks == {
        "paper": 3,
        "terminal-update": 3,
        "bootstrap-and-update": 3,
        "standard": 1,
    }
    assert min(by_name, key=lambda name: by_name[name].distance_to_value) == "standard"


@pytest.mark.parametrize("start", [2, 3])
def test_q_learnings_value_is_that_of_the_crisp_tree(start):
    curve = q_learning_curves(PAPER, (start,), GRID, main_text_leaves(PAPER))[0]
    middle = (curve.phi >= 2) & (curve.phi < 3)
    np.testing.assert_allclose(curve.value[middle], 3.709875)
    assert (curve.value[~middle] < 1.1).all()


GRID = phi_grid(PAPER, -2.0, 7.0)
FIRST = initial_phis(PAPER)


def iterate(rule, first, rate, steps):
    last = first.copy()
    for _ in range(steps):
        last = last + rate * rule(last).total
    return last


def test_following_the_grid_is_following_the_rule():
    (curve,) = policy_gradient_curves(PAPER, (2,), GRID)
    exact = iterate(policy_gradient(PAPER, 2), FIRST, 0.002, 2000)
    found = iterate_updates(curve.phi, curve.total, FIRST, 0.002, 2000).last
    # φ that is on its way moves a little faster where a chord lies above the curve.
    np.testing.assert_allclose(found, exact, atol=0.02)
    settled = np.abs(exact - curve.zeros[0].phi) < 1e-3
    assert settled.sum() > 10
    np.testing.assert_allclose(found[settled], exact[settled], atol=1e-3)


def test_following_the_grid_across_jumps():
    leaves = main_text_leaves(PAPER)
    for curve in q_learning_curves(PAPER, (3,), GRID, leaves):
        assert curve.terminal is not None
        rule = q_learning(PAPER, 3, leaves, curve.terminal)
        exact = iterate(rule, FIRST, 1e-4, 500)
        found = iterate_updates(curve.phi, curve.total, FIRST, 1e-4, 500).last
        # Both rattle about an attracting jump with steps of up to 0.01.
        np.testing.assert_allclose(found, exact, atol=0.02)


def test_where_learning_ends_on_the_papers_chain():
    (gradient,) = policy_gradient_curves(PAPER, (2,), GRID)
    ends = {
        curve.terminal.name: iterate_updates(curve.phi, curve.total, FIRST, 0.001, 10_000)
        for curve in q_learning_curves(PAPER, (2,), GRID, main_text_leaves(PAPER))
        if curve.terminal is not None
    }
    learnt = iterate_updates(gradient.phi, gradient.total, FIRST, 0.001, 10_000)
    # Eq. 5 to the letter keeps φ on its side of the states 2 and 3; nobody becomes optimal.
    paper = ends["paper"]
    np.testing.assert_array_equal(is_optimal(PAPER, paper.last), is_optimal(PAPER, FIRST))
    assert learnt.optimal_after(PAPER) > 2 * learnt.optimal_before(PAPER)
    assert ends["standard"].optimal_after(PAPER) > 2 * paper.optimal_after(PAPER)
    moved = np.abs(ends["terminal-update"].last - np.clip(FIRST, 1, 4)) > 0
    assert moved.any()


def test_shares():
    learning = Learning(np.array([0.0, 2.2, 1.9, 3.0]), np.array([0.01, 2.5, 2.5, 3.4]))
    assert learning.optimal_before(PAPER) == 0.25
    assert learning.optimal_after(PAPER) == 0.5
    assert learning.stuck(PAPER) == 0.25


def test_optimal_includes_the_left_end_only():
    assert is_optimal(PAPER, np.array([1.999, 2.0, 2.999, 3.0])).tolist() == [
        False,
        True,
        True,
        False,
    ]


def test_starting_points_cover_the_chain():
    first = initial_phis(Setting(n=50, istar=20))
    assert (first[0], first[-1]) == (0, 51)
    assert np.diff(first).max() < 0.52
