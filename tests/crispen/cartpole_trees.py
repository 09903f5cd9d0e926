"""Trees for CartPole whose worth is known."""

from crisptree.crisp import CrispTree
from crisptree.envs.spaces import describe

TASK = describe("CartPole-v1")
POSITION, VELOCITY, ANGLE, SPIN = range(4)
LEFT, RIGHT = 0, 1


def cartpole(nested) -> CrispTree:
    return CrispTree.from_nested(nested, TASK.feature_names, TASK.action_names, TASK.env_id)


GOOD = cartpole((SPIN, 0.5, RIGHT, (SPIN, -0.5, (ANGLE, 0.0, RIGHT, LEFT), LEFT)))
"""Balances for all 500 steps."""
CLUMSY = cartpole((SPIN, 0.3, RIGHT, LEFT))
"""Falls after a few dozen steps, a different number each time."""
