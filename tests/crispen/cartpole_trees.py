"""Trees for CartPole whose worth is known."""

from crisptree.crisp import CrispTree
from crisptree.envs.task import task_of

TASK = task_of("CartPole-v1")
POSITION, VELOCITY, ANGLE, SPIN = range(4)
LEFT, RIGHT = 0, 1


def cartpole(nested) -> CrispTree:
    return CrispTree.from_nested(nested, **TASK.signature)


GOOD = cartpole((SPIN, 0.5, RIGHT, (SPIN, -0.5, (ANGLE, 0.0, RIGHT, LEFT), LEFT)))
"""Balances for all 500 steps."""
CLUMSY = cartpole((SPIN, 0.3, RIGHT, LEFT))
"""Falls after a few dozen steps, a different number each time."""
