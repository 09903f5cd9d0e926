"""Trees to ask about, and the truth about them by trying every float that matters."""

import itertools
from fractions import Fraction

import numpy as np

from crisptree.crisp import CrispTree
from crisptree.verify.conditions import cuts
from crisptree.verify.floats import neighbours

CART_POLE = ("cart position", "cart velocity", "pole angle", "pole angular velocity")
PUSHES = ("push left", "push right")


def cart_pole(nested) -> CrispTree:
    return CrispTree.from_nested(nested, CART_POLE, PUSHES, env_id="CartPole-v1")


STEADY = cart_pole(
    (
        "pole angular velocity",
        0.00243,
        ("pole angle", -0.0257, "push right", "push left"),
        (
            "pole angle",
            0.00863,
            ("pole angular velocity", -0.275, "push right", "push left"),
            "push left",
        ),
    )
)
"""Keeps the pole up."""

FALLING = cart_pole(("pole angle", 0.0, "push left", "push right"))
"""Pushes the wrong way."""

ANGLE_ONLY = cart_pole(("pole angle", 0.0, "push right", "push left"))
"""Symmetric, and increasing in the angle."""


def grown(leaves: int, seed: int, n_features: int = 8, n_actions: int = 4) -> CrispTree:
    """A random tree with thresholds of full float64 precision."""
    rng = np.random.default_rng(seed)
    root: list = [int(rng.integers(n_actions))]
    open_leaves = [root]
    for _ in range(leaves - 1):
        node = open_leaves.pop(rng.integers(len(open_leaves)))
        sides = [[int(rng.integers(n_actions))] for _ in range(2)]
        node[:] = [int(rng.integers(n_features)), float(rng.normal()), *sides]
        open_leaves += sides
    features = [f"x{at}" for at in range(n_features)]
    return CrispTree.from_nested(_plain(root), features, [f"a{at}" for at in range(n_actions)])


def _plain(node: list):
    return node[0] if len(node) == 1 else (node[0], node[1], _plain(node[2]), _plain(node[3]))


def every_float_that_matters(trees, conditions, dtype) -> list[list[float]]:
    """Feature by feature, a float for each interval in which no comparison changes."""
    found: list[set[float]] = [{0.0} for _ in trees[0].feature_names]
    changes = {each for condition in conditions for each in cuts(condition)}
    for tree in trees:
        changes |= {(f, Fraction(t)) for f, t, _, _ in tree.nodes if f >= 0}
    for feature, value in changes:
        found[feature] |= {float(each) for each in neighbours(value, dtype)}
    limit = float(np.finfo(dtype).max)
    return [sorted({*values, limit, -limit}) for values in found]


def grid(values: list[list[float]]):
    return map(list, itertools.product(*values))
