"""Policies whose actions are numbers, and a study of them."""

import numpy as np

from crisptree.crisp import Actions, CrispTree, Feature
from crisptree.lab.study import make_drawing
from crisptree.lab.study.definition import Definition, define
from crisptree.lab.study.questionnaire import Questionnaire

FEATURES = ("angle", "velocity")
TORQUE = Actions.box(("torque",), (-2.0,), (2.0,))

CONSTANT = CrispTree.from_nested(
    ("angle", 0.1, ("velocity", -0.456789, [1.23456], [-2.0]), [0.5]), FEATURES, actions=TORQUE
)
"""A rule list with a number at each leaf."""

LINEAR = CrispTree.from_nested(
    (
        "angle",
        0.1,
        ("velocity", 0.3, [(0.51234, {"velocity": -3.12345})], [(0.0, {"angle": 1.5})]),
        ("velocity", -0.2, [-1.0], [(0.2, {"angle": 2.0, "velocity": -0.5})]),
    ),
    FEATURES,
    actions=TORQUE,
)
"""A tree with a formula at most of its leaves."""

MIXED = CrispTree.from_nested(
    ("angle", 0.1, [1.0, (5.0, {"velocity": 1.0})], [-1.0, -5.0]),
    FEATURES,
    actions=Actions.box(("torque", "brake"), (-2.0, -5.0), (2.0, 5.0)),
)
"""Two numbers at once."""

PARTS = CrispTree.from_nested(
    ("contact", 0.5, ("gear", 1.5, [0, 1], [1, 0]), [1, 1]),
    features=(
        Feature("contact", "flag", 0.0, 1.0),
        Feature("gear", "category", 0.0, 2.0, ("low", "middle", "high")),
    ),
    actions=Actions.multi_discrete(("steer", "brake"), (("left", "right"), ("off", "on"))),
)
"""Several choices at once, over a flag and a category."""


def states() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(2000, 2))


def number_definition(n_items: int = 3) -> Definition:
    drawings = [(make_drawing(tree), states()) for tree in (CONSTANT, LINEAR)]
    return define(drawings, Questionnaire(), n_items, 0)
