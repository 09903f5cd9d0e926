from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crisptree.lab.analysis.optimal import (
    appendix_c_leaves,
    backup,
    check_theorem,
    finite_horizon_q,
    optimal_q,
    printed_transition,
)
from crisptree.lab.analysis.setting import PAPER, Setting


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
