import numpy as np

from crisptree.lab.analysis.curves import policy_gradient_curves, q_learning_curves
from crisptree.lab.analysis.learning import Learning, first_phis, follow, is_optimal
from crisptree.lab.analysis.policy_gradient import policy_gradient
from crisptree.lab.analysis.q_learning import q_learning
from crisptree.lab.analysis.setting import PAPER, Setting
from crisptree.lab.analysis.tree import main_text_leaves
from crisptree.lab.analysis.zeros import phi_grid

GRID = phi_grid(PAPER, -2.0, 7.0)
FIRST = first_phis(PAPER)


def iterate(rule, first, rate, steps):
    last = first.copy()
    for _ in range(steps):
        last = last + rate * rule(last).total
    return last


def test_following_the_grid_is_following_the_rule():
    (curve,) = policy_gradient_curves(PAPER, (2,), GRID)
    exact = iterate(policy_gradient(PAPER, 2), FIRST, 0.002, 2000)
    found = follow(curve.phi, curve.total, FIRST, 0.002, 2000).last
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
        found = follow(curve.phi, curve.total, FIRST, 1e-4, 500).last
        # Both rattle about an attracting jump with steps of up to 0.01.
        np.testing.assert_allclose(found, exact, atol=0.02)


def test_where_learning_ends_on_the_papers_chain():
    (gradient,) = policy_gradient_curves(PAPER, (2,), GRID)
    ends = {
        curve.terminal.name: follow(curve.phi, curve.total, FIRST, 0.001, 10_000)
        for curve in q_learning_curves(PAPER, (2,), GRID, main_text_leaves(PAPER))
        if curve.terminal is not None
    }
    learnt = follow(gradient.phi, gradient.total, FIRST, 0.001, 10_000)
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
    first = first_phis(Setting(n=50, istar=20))
    assert (first[0], first[-1]) == (0, 51)
    assert np.diff(first).max() < 0.52
