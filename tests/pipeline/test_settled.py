import math

import numpy as np
import pytest

from crisptree.crisp import CrispTree
from crisptree.crispen.select import Selection
from crisptree.envs.task import task_of
from crisptree.pipeline.stage import is_settled

TASK = task_of("CartPole-v1")
GOOD = CrispTree.from_nested((3, 0.0, 1, 0), **TASK.signature)


class Earns(Selection):
    """Every tree earns the same returns."""

    def __init__(self, *returns: float) -> None:
        super().__init__(TASK, 0)
        self.earned = returns

    def returns(self, trees, episodes, least=2, most=None):
        return np.tile(np.resize(self.earned, episodes), (len(trees), 1))


@pytest.mark.parametrize(
    ("returns", "best", "settled"),
    [
        ((500.0,), 500.0, True),
        ((500.0,), 498.7, True),  # a learner's best mean is below what its tree always earns
        ((500.0, 499.0), 500.0, False),
        ((500.0,), -math.inf, False),
        ((97.2, 97.4), 94.8, False),  # better than its teachers, and not as good as it can be
    ],
)
def test_what_always_earns_the_same_and_as_much_as_was_ever_earned_is_settled(
    returns, best, settled
):
    assert is_settled(GOOD, best, Earns(*returns), (4, 8)) is settled


def test_what_always_does_the_same_is_not_settled():
    """Standing still may cost nothing in every episode; others may still find what earns more."""
    idle = CrispTree.from_nested(0, **TASK.signature)
    assert not is_settled(idle, 0.0, Earns(0.0), (4, 8))
    assert is_settled(GOOD, 0.0, Earns(0.0), (4, 8))
