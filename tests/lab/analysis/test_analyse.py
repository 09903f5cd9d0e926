import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.lab.analysis.analyse import LearningPlan, analyse
from crisptree.lab.analysis.setting import Setting

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
