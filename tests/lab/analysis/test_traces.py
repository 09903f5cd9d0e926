import numpy as np

from crisptree.lab.analysis.setting import PAPER, Setting
from crisptree.lab.analysis.traces import trace, traces


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
