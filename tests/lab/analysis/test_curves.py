from dataclasses import replace

import numpy as np
import pytest

from crisptree.lab.analysis.curves import (
    integral,
    normalised,
    policy_gradient_curves,
    q_learning_curves,
)
from crisptree.lab.analysis.policy_gradient import evaluate
from crisptree.lab.analysis.q_learning import HANDLINGS
from crisptree.lab.analysis.setting import PAPER, Setting
from crisptree.lab.analysis.tree import main_text_leaves
from crisptree.lab.analysis.zeros import Zero, phi_grid

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
