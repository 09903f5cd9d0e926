import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.lab.analysis.chain_setting import PAPER, Setting


def test_the_papers_chain():
    assert PAPER.states.tolist() == [1, 2, 3, 4]
    assert PAPER.rewards.tolist() == [-1, 1, 1, -1]
    assert PAPER.optimal_phi == 2.5


def test_a_longer_chain_pays_nothing_in_between():
    rewards = Setting(n=7, istar=3, r_plus=2.0, r_minus=-4.0).rewards
    assert rewards.tolist() == [-4, 0, 2, 2, 0, 0, -4]


@pytest.mark.parametrize(
    "wrong, word",
    [
        ({"n": 3}, "n is 3; the chain needs at least 4"),
        ({"istar": 1}, "istar is 1; it must lie between 2 and n - 2 = 2"),
        ({"istar": 3}, "istar is 3"),
        ({"p": -0.1}, "p is -0.1"),
        ({"p": float("nan")}, "p is nan"),
        ({"gamma": 1.0}, "gamma is 1.0"),
        ({"gamma": 0.0}, "gamma is 0.0"),
        ({"alpha": 0.0}, "alpha is 0.0"),
        ({"alpha": 501.0}, "alpha is 501.0"),
        ({"r_plus": 0.0}, "r-plus is 0.0"),
        ({"r_minus": 1.0}, "r-minus is 1.0"),
        ({"r_minus": float("-inf")}, "r-minus is -inf"),
        ({"horizon": 0}, "horizon is 0"),
        ({"leaf_probability": 0.5}, "leaf-probability is 0.5"),
        ({"leaf_probability": 1.0}, "leaf-probability is 1.0"),
    ],
)
def test_a_wrong_setting_is_named(wrong, word):
    with pytest.raises(CrisptreeError, match=word):
        Setting(**wrong)


@pytest.mark.parametrize("start", [0, 1, 4, 5])
def test_episodes_do_not_start_in_terminal_states(start):
    with pytest.raises(CrisptreeError, match=f"start is {start}.*2 to 3"):
        PAPER.check_start(start)
