from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crisptree.lab.analysis.chain_setting import PAPER, Setting
from crisptree.lab.analysis.chain_tree import main_text_leaves
from crisptree.lab.analysis.critical_points import WIDTH, find_zeros, phi_grid
from crisptree.lab.analysis.exact_policy_gradient import policy_gradient
from crisptree.lab.analysis.exact_q_learning import HANDLINGS, q_learning
from crisptree.lab.analysis.update_rule import Update

GRID = phi_grid(PAPER, -2.0, 7.0)


def rule_of(function):
    """An update rule whose terms add up to 1 more than its size: a well-behaved balance."""

    def rule(phi):
        total = function(phi)
        return Update(total, np.abs(total) + 1.0)

    return rule


def zeros(function, grid=GRID):
    rule = rule_of(function)
    return find_zeros(rule, grid, rule(grid).balance)


def test_the_grid_is_fine_and_holds_both_sides_of_every_integer():
    for alpha in (0.5, 10.0, 300.0):
        grid = phi_grid(Setting(alpha=alpha), -2.0, 7.0)
        gaps = np.diff(grid)
        assert (gaps > 0).all()
        assert gaps.max() <= min(0.02, 1 / (5 * alpha)) * (1 + 1e-9)
        assert {-1.0, 0.0, 1.0, 4.0, 6.0} <= set(grid)
        assert {np.nextafter(k, -np.inf) for k in (1.0, 4.0)} <= set(grid)
        assert grid[0] == -2
        assert (gaps < WIDTH).sum() == 8


def test_ends_between_integers():
    grid = phi_grid(PAPER, 1.5, 2.25)
    assert grid[0] == 1.5
    assert grid[-1] == np.nextafter(2.25, 1.5)


@settings(deadline=None)
@given(st.lists(st.integers(-490, 1740), min_size=0, max_size=6, unique=True), st.floats(0, 0.003))
def test_all_simple_zeros_are_found(numbers, offset):
    # A fifth of the grid's spacing apart or more.
    places = np.sort(np.array(numbers) * 0.004 + offset)
    found = zeros(lambda phi: np.prod([phi - x for x in places], axis=0) * np.ones_like(phi))
    np.testing.assert_allclose([zero.phi for zero in found], places, atol=1e-6)
    assert all(zero.kind == "smooth" for zero in found)
    signs = [zero.attracts for zero in found]
    assert all(a != b for a, b in pairwise(signs))


@pytest.mark.parametrize("gap", [1e-2, 1e-3, 1e-4, 2e-5])
@pytest.mark.parametrize("middle", [2.503, 1.0051, 2.99992])
def test_a_close_pair_between_grid_points_is_found(gap, middle):
    low, high = middle - gap / 2, middle + gap / 2
    found = zeros(lambda phi: (phi - low) * (phi - high))
    np.testing.assert_allclose([zero.phi for zero in found], [low, high], atol=1e-9)
    assert [zero.attracts for zero in found] == [True, False]


def test_a_dip_that_stays_above_zero_is_no_zero():
    assert zeros(lambda phi: (phi - 2.503) ** 2 + 1e-9) == ()


def test_a_jump_is_told_from_a_steep_zero():
    (jump,) = zeros(lambda phi: np.where(phi < 3, 1.0, -2.0))
    assert (jump.kind, jump.phi, jump.attracts) == ("jump", np.nextafter(3.0, 0), True)
    (steep,) = zeros(lambda phi: -np.tanh(1e6 * (phi - 3.00001)))
    assert steep.kind == "smooth"
    assert abs(steep.phi - 3.00001) < 1e-9


def test_a_jump_off_the_integers_is_found_too():
    (jump,) = zeros(lambda phi: np.where(phi < 3.3, -1.0, 2.0))
    assert jump.kind == "jump"
    assert abs(jump.phi - 3.3) < 1e-9
    assert not jump.attracts


def test_a_jump_without_a_change_of_sign_is_no_zero():
    assert zeros(lambda phi: np.where(phi < 3, 1.0, 2.0)) == ()


def test_a_zero_beside_a_jump_back_is_found():
    # Crosses zero a hair before the state, jumps back at it.
    found = zeros(lambda phi: np.where(phi < 2, 1.9999 - phi, 1.0))
    assert [zero.kind for zero in found] == ["smooth", "jump"]
    np.testing.assert_allclose([zero.phi for zero in found], [1.9999, 2.0], atol=1e-9)


def test_exponentially_small_updates_do_not_hide_a_zero():
    def rule(phi):
        left, right = np.exp(-80 * (phi + 2)), np.exp(-80 * (phi + 2) + 3 * (phi - 4.2))
        return Update(left - right, left + right)

    (zero,) = find_zeros(rule, GRID, rule(GRID).balance)
    assert abs(zero.phi - 4.2) < 1e-9
    assert zero.kind == "smooth"


def test_a_plateau_is_reported_as_one():
    def rule(phi):
        size = np.where(np.abs(phi - 3.5) < 0.7, 0.0, 1.0)
        return Update(np.sign(3.5 - phi) * size, size)

    (zero,) = find_zeros(rule, GRID, rule(GRID).balance)
    assert zero.kind == "plateau"
    assert abs(zero.phi - 3.5) < 0.03
    assert zero.attracts


def test_nothing_anywhere_is_no_zero():
    assert zeros(np.zeros_like) == ()


@pytest.mark.parametrize("seed", range(6))
def test_a_hundred_times_finer_grid_finds_no_more(seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(4, 9))
    setting = Setting(
        n=n,
        istar=int(random.integers(2, n - 1)),
        p=float(random.choice([1.0, random.uniform()])),
        gamma=float(random.uniform(0.1, 0.99)),
        alpha=float(random.uniform(1, 60)),
        r_minus=float(random.uniform(-3, 0.9)),
        horizon=int(random.integers(2, 12)),
    )
    start, leaves = int(random.integers(2, n)), main_text_leaves(setting)
    rules = [q_learning(setting, start, leaves, handling) for handling in HANDLINGS]
    grid = phi_grid(setting, -2.0, n + 3.0)
    dense = np.unique(np.concatenate([grid, random.uniform(-2, n + 3, 50_000)]))
    for rule in [policy_gradient(setting, start), *rules]:
        signs = np.sign(np.nan_to_num(rule(dense).balance))
        signs = signs[signs != 0]
        assert len(find_zeros(rule, grid, rule(grid).balance)) == (np.diff(signs) != 0).sum()
