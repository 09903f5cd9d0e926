import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.lab.analysis.appendices import appendix_c_leaves
from crisptree.lab.analysis.chain_setting import PAPER, Setting
from crisptree.lab.analysis.chain_tree import ValueLeaves, main_text_leaves
from crisptree.lab.analysis.critical_points import find_zeros, phi_grid
from crisptree.lab.analysis.exact_q_learning import (
    BOOTSTRAP_AND_UPDATE,
    HANDLINGS,
    PAPER_HANDLING,
    STANDARD,
    TERMINAL_UPDATE,
    crisp_values,
    q_learning,
    visits,
)

SETTINGS = (
    PAPER,
    Setting(n=6, istar=3, p=0.8, gamma=0.7, alpha=3.0, r_minus=-0.5, horizon=5),
    Setting(n=5, istar=2, p=0.0, alpha=2.0),
)


def q_tree(setting, leaves, phi, state, action):
    """Eq. 13."""
    true, false = (leaves.good, leaves.bad) if action == 2 else (leaves.bad, leaves.good)
    mu = 1 / (1 + jnp.exp(-setting.alpha * (state - phi)))
    return mu * true + (1 - mu) * false


def by_the_book(setting, phi, start, leaves, handling):
    """Eq. 5 along every path a greedy rollout can take, its gradients by autodiff."""
    q = jax.jit(q_tree, static_argnums=(0, 1, 4))
    slope = jax.jit(jax.grad(q_tree, argnums=2), static_argnums=(0, 1, 4))
    total = 0.0
    stack = [(start, 1.0, 0)]
    while stack:
        state, chance, t = stack.pop()
        if t == setting.horizon:
            continue
        values = {a: q(setting, leaves, phi, state, a) for a in (1, 2)}
        action = max(values, key=lambda a: float(values[a]))
        gradient = slope(setting, leaves, phi, state, action)
        if state in (1, setting.n):
            if handling.updates:
                total += chance * (setting.r_minus - values[action]) * gradient
            continue
        onward = 1 if action == 1 else -1
        for successor, p in ((state + onward, setting.p), (state - onward, 1 - setting.p)):
            target = max(q(setting, leaves, phi, successor, a) for a in (1, 2))
            if successor in (1, setting.n) and not handling.bootstraps:
                target = setting.r_minus
            difference = setting.rewards[state - 1] + setting.gamma * target - values[action]
            total += chance * p * difference * gradient
            if p > 0:
                stack.append((successor, chance * p, t + 1))
    return float(total)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("handling", HANDLINGS, ids=lambda handling: handling.name)
def test_the_update_is_equation_5_along_the_rollout(setting, handling):
    leaves = ValueLeaves(7.0, 4.5)
    phis = np.linspace(0.13, setting.n + 0.87, 9)
    start = setting.istar
    with jax.enable_x64(True):
        expected = [by_the_book(setting, phi, start, leaves, handling) for phi in phis]
    found = q_learning(setting, start, leaves, handling)(phis).total
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


def zeros(setting, start, leaves, handling):
    grid = phi_grid(setting, -2.0, setting.n + 3.0)
    rule = q_learning(setting, start, leaves, handling)
    return find_zeros(rule, grid, rule(grid).balance)


@pytest.mark.parametrize("start", [2, 3])
@pytest.mark.parametrize(
    "handling, places",
    [
        (PAPER_HANDLING, [1.497, 2, 2.5, 3, 3.503]),
        (TERMINAL_UPDATE, [1, 1.503, 2.5, 3.497, 4]),
        (BOOTSTRAP_AND_UPDATE, [1, 2, 2.5, 3, 4]),
        (STANDARD, [2.5]),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_critical_points_of_the_papers_chain(start, handling, places):
    found = zeros(PAPER, start, main_text_leaves(PAPER), handling)
    np.testing.assert_allclose([zero.phi for zero in found], places, atol=5e-4)
    for zero, place in zip(found, places, strict=True):
        assert zero.kind == ("jump" if float(place).is_integer() else "smooth")


def test_zeros_of_equation_5_attract_and_repel_in_turn():
    found = zeros(PAPER, 2, main_text_leaves(PAPER), PAPER_HANDLING)
    assert [zero.attracts for zero in found] == [True, False, True, False, True]


@pytest.mark.parametrize(
    "handling, count",
    [(PAPER_HANDLING, 7), (TERMINAL_UPDATE, 5), (BOOTSTRAP_AND_UPDATE, 5), (STANDARD, 1)],
    ids=lambda value: getattr(value, "name", ""),
)
def test_with_the_leaves_of_appendix_c(handling, count):
    assert len(zeros(PAPER, 3, appendix_c_leaves(PAPER), handling)) == count


@pytest.mark.parametrize("alpha", [1.0, 10.0, 50.0, 500.0])
@pytest.mark.parametrize("gamma", [0.9, 0.99])
def test_five_against_one_for_many_slopes_and_discounts(alpha, gamma):
    setting = Setting(alpha=alpha, gamma=gamma)
    leaves = main_text_leaves(setting)
    assert len(zeros(setting, 2, leaves, PAPER_HANDLING)) == 5
    assert len(zeros(setting, 2, leaves, STANDARD)) == 1


def test_longer_chains_have_extra_critical_points_under_every_handling():
    setting = Setting(n=6, istar=3, horizon=6)
    for handling in HANDLINGS:
        assert len(zeros(setting, 3, main_text_leaves(setting), handling)) >= 5


def test_visits_of_a_certain_rollout():
    # φ = 2: 3, 2, 3, 2.  φ = 0: 3, 2, 1.  φ = 3: 3, 4.
    counts = visits(PAPER, 3)
    assert counts[2].tolist() == [0, 2, 2, 0]
    assert counts[0].tolist() == [1, 1, 1, 0]
    assert counts[3].tolist() == [0, 0, 1, 1]


def test_time_is_spent_somewhere_until_the_end():
    setting = Setting(n=9, istar=4, p=0.7, horizon=30)
    total = visits(setting, 4).sum(1)
    assert (total <= 30 + 1e-9).all()
    # Before anything can end, each time step is spent in exactly one state.
    np.testing.assert_allclose(visits(Setting(n=9, istar=4, p=0.7, horizon=4), 5).sum(1), 4)


def test_crisp_values_are_those_of_appendix_b():
    gamma = 0.95
    pair = 1 + gamma
    expected = [pair - gamma**2, pair - gamma**2, pair * (1 + gamma**2), 1 - gamma, 1 - gamma]
    np.testing.assert_allclose(crisp_values(PAPER, 3), expected)


def test_leaves_must_favour_their_action():
    with pytest.raises(CrisptreeError, match="the first must be greater"):
        q_learning(PAPER, 2, ValueLeaves(1.0, 1.0), STANDARD)
