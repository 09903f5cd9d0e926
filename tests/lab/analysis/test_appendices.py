from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crisptree.lab.analysis.appendices import (
    appendix_c_leaves,
    backup,
    check_theorem,
    finite_horizon_q,
    least_wrong,
    optimal_q,
    printed_transition,
    trace,
    traces,
    wrong_action,
)
from crisptree.lab.analysis.chain_setting import PAPER, Setting


def test_closed_forms_of_appendix_a():
    q = optimal_q(PAPER)
    np.testing.assert_allclose(q, [[-1, -1], [20, 0.05], [0.05, 20], [-1, -1]])
    four = 1 + 0.95 + 0.95**2 + 0.95**3
    np.testing.assert_allclose(
        finite_horizon_q(PAPER), [[-1, -1], [four, 0.05], [0.05, four], [-1, -1]]
    )
    np.testing.assert_allclose(appendix_c_leaves(PAPER), (four, 0.05))


@settings(deadline=None)
@given(
    n=st.integers(4, 12),
    where=st.floats(0, 1),
    p=st.floats(0, 1),
    gamma=st.floats(0.01, 0.9999),
    r_minus=st.floats(-5, 0.9),
)
def test_optimal_values_satisfy_bellmans_equation(n, where, p, gamma, r_minus):
    istar = 2 + round(where * (n - 4))
    setting = Setting(n=n, istar=istar, p=p, gamma=gamma, r_minus=r_minus)
    q = optimal_q(setting)
    np.testing.assert_allclose(backup(setting, q.max(1)), q, rtol=1e-9, atol=1e-9)


def test_a_long_horizon_is_none():
    setting = Setting(n=8, istar=3, p=0.8, horizon=600)
    np.testing.assert_allclose(finite_horizon_q(setting), optimal_q(setting), rtol=1e-9)


@pytest.mark.parametrize(
    "p, verdict", [(1.0, "holds"), (0.51, "holds"), (0.5, "indifferent"), (0.2, "reversed")]
)
@pytest.mark.parametrize("setting", [PAPER, Setting(n=11, istar=4), Setting(r_minus=0.0)])
def test_the_theorem(setting, p, verdict):
    check = check_theorem(setting, p)
    assert check.verdict == verdict
    assert (check.exceptions == ()) == (verdict == "holds")


def test_the_theorem_needs_terminal_states_to_be_worth_avoiding():
    # r- of 0.9 for a state one step away, then nothing lost: still worse than r+ for ever.
    assert check_theorem(replace(PAPER, r_minus=0.9), 1.0).verdict == "holds"
    # With hardly any future, a good terminal reward nearby beats the pair far away.
    greedy = Setting(n=12, istar=9, gamma=0.1, r_minus=0.9)
    check = check_theorem(greedy, 1.0)
    assert check.verdict == "differs"
    assert 2 in check.exceptions
    assert check.margin < 0


def test_the_printed_transitions_are_no_distribution():
    np.testing.assert_array_equal(printed_transition(PAPER).sum(-1)[1:-1], [[1, 0], [0, 1]])
    assert (printed_transition(replace(PAPER, p=0.7)).sum(-1) < 1).all()


def triples(steps):
    return [(step.state, step.reward, step.action) for step in steps]


def test_the_traces_of_appendix_b():
    found = {t.phi: triples(t.steps) for t in traces(PAPER, 3)}
    assert found == {
        0: [(3, 1, 2), (2, 1, 2), (1, -1, 2)],
        1: [(3, 1, 2), (2, 1, 2), (1, -1, 1)],
        2: [(3, 1, 2), (2, 1, 1), (3, 1, 2), (2, 1, 1)],
        3: [(3, 1, 1), (4, -1, 2)],
        4: [(3, 1, 1), (4, -1, 1)],
    }


def test_values_are_the_discounted_rewards_of_the_traces():
    setting = Setting(n=9, istar=5, horizon=13, gamma=0.8)
    for start in range(2, 9):
        for t in traces(setting, start):
            paid = sum(0.8**now * step.reward for now, step in enumerate(t.steps))
            np.testing.assert_allclose(t.value, paid)


def test_when_most_moves_go_astray_the_trace_follows_them():
    assert [s.state for s in trace(Setting(p=0.1), 3, 2.5)] == [3, 4]


def test_the_least_is_at_two_and_a_half():
    place, chance = least_wrong(PAPER, -2.0, 7.0)
    assert abs(place - 2.5) < 1e-9
    mu = 1 / (1 + np.exp(5.0))
    np.testing.assert_allclose(chance, mu * 0.99 + (1 - mu) * 0.01)


@pytest.mark.parametrize(
    "setting", [PAPER, Setting(n=30, istar=12, alpha=0.3), Setting(alpha=90.0)]
)
def test_no_grid_point_is_better(setting):
    place, chance = least_wrong(setting, -2.0, setting.n + 3.0)
    grid = np.linspace(-2, setting.n + 3, 20_001)
    assert chance <= wrong_action(setting, grid).min() + 1e-12
    assert abs(place - setting.optimal_phi) < 1e-6


def test_far_away_one_state_is_always_wrong():
    np.testing.assert_allclose(wrong_action(PAPER, np.array([-50.0, 50.0])), 0.5)


def test_in_a_range_without_the_minimum_its_nearer_end_is_best():
    place, _ = least_wrong(PAPER, 3.0, 6.0)
    assert place == 3.0
