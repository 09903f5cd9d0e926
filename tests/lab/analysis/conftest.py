import pytest

from crisptree.lab.analysis.chain_analysis import Analysis, LearningPlan, analyse
from crisptree.lab.analysis.chain_setting import Setting


@pytest.fixture(scope="session")
def papers() -> Analysis:
    return analyse()


@pytest.fixture(scope="session")
def longer() -> Analysis:
    """A chain with traces and zeros too many to print, three starts, and moves that go astray."""
    setting = Setting(n=30, istar=12, p=0.9, alpha=5.0, horizon=20)
    return analyse(setting, (5, 12, 13), LearningPlan(steps=50))
