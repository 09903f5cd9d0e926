import json

import numpy as np
import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.lab.analysis.chain_analysis import LearningPlan, analyse, as_json
from crisptree.lab.analysis.chain_setting import Setting

FEW = LearningPlan(steps=5)


def test_without_starts_both_of_the_pair(papers):
    assert papers.starts == (2, 3)
    assert [curve.start for curve in papers.policy_gradient] == [2, 3]
    assert len(papers.q_learning) == 8
    assert len(papers.learning) == len(papers.curves) == 10


def test_the_print_is_compared_at_the_papers_setting_only(papers, longer):
    assert papers.comparisons
    assert not longer.comparisons


def test_the_theorem_is_checked_at_the_chains_own_p_too():
    checks = analyse(Setting(p=0.83), plan=FEW).theorem
    assert [check.p for check in checks] == [1.0, 0.9, 0.83, 0.75, 0.6, 0.5, 0.4]


@pytest.mark.parametrize("setting", [Setting(p=0.3), Setting(horizon=1)])
def test_leaves_that_favour_nothing_are_left_out(setting):
    assert analyse(setting, plan=FEW).horizon_leaf_q_learning == ()


def test_wrong_starts_and_plans_are_named():
    with pytest.raises(CrisptreeError, match="start is 4"):
        analyse(starts=(2, 4))
    with pytest.raises(CrisptreeError, match=r"rate is 0\.0"):
        LearningPlan(rate=0.0)
    with pytest.raises(CrisptreeError, match="steps is 0"):
        LearningPlan(steps=0)


def test_the_papers_numbers(papers):
    report = as_json(papers)
    zeros = {entry["start"]: entry["zeros"] for entry in report["policy_gradient"]}
    assert zeros.keys() == {2, 3}
    np.testing.assert_allclose(zeros[2], [2.5347], atol=5e-4)
    np.testing.assert_allclose(zeros[3], [2.4653], atol=5e-4)
    for entry in report["q_learning"]:
        assert entry["zeros"] == sorted(entry["zeros"])
        if entry["terminal"] == "paper":
            five = [1.497, 1.997, 2.5, 2.998, 3.503]
            assert len(entry["zeros"]) == 5
            assert all(abs(a - b) <= 0.003 for a, b in zip(entry["zeros"], five, strict=True))
            assert entry["kinds"] == ["smooth", "jump", "smooth", "jump", "smooth"]
        if entry["terminal"] == "standard":
            np.testing.assert_allclose(entry["zeros"], [2.5], atol=1e-6)
    assert {entry["terminal"] for entry in report["q_learning"]} == {
        "paper",
        "terminal-update",
        "bootstrap-and-update",
        "standard",
    }


def test_it_is_json_without_infinities(papers, longer):
    for analysis in (papers, longer):
        report = as_json(analysis)
        assert json.loads(json.dumps(report, allow_nan=False)) == report


def test_lists_of_a_curve_belong_together(longer):
    report = as_json(longer)
    for entry in report["policy_gradient"] + report["q_learning"]:
        count = len(entry["zeros"])
        assert count == len(entry["kinds"]) == len(entry["attracts"]) == len(entry["optimality"])
    assert len(report["learning"]) == len(report["policy_gradient"] + report["q_learning"])
    assert len(report["appendix_b"]["traces"]) == 31


def test_the_same_analysis_twice(papers):
    assert json.dumps(as_json(analyse())) == json.dumps(as_json(papers))
