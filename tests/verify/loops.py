"""Small closed loops to prove things about."""

import numpy as np

from crisptree.crisp import Actions, CrispTree
from crisptree.verify.plants import Plant
from crisptree.verify.plants.registry import PLANTS as PLANTS


def some_states(plant, n, rng):
    box = plant.reset_box
    return rng.uniform(box[:, 0] - 0.1, box[:, 1] + 0.1, (n, len(box)))


def some_actions(plant, n, rng):
    actions = plant.actions
    if actions.kind == "discrete":
        return [int(rng.integers(len(actions.names))) for _ in range(n)]
    return [rng.uniform(actions.low, actions.high).astype(np.float32).tolist() for _ in range(n)]


def _level(xp, state, action, disturbance):
    level, rate = state
    rate = xp.clip(rate + disturbance[0], 0.0, 0.06)
    return xp.clip(level + 0.06 * action - rate, 0.0, 2.0), rate


TANK = Plant(
    name="tank",
    step=_level,
    states={"level": (0.0, 1.0), "outflow": (0.03, 0.03)},
    actions=Actions.discrete(("close", "open")),
    disturbance={"change of outflow": (-0.06, 0.06)},
)
"""The tank of the documentation."""

FILLING = CrispTree.from_nested(
    ("level", 0.5, "close", "open"), TANK.feature_names, ("close", "open")
)
"""Opens the valve below one half."""


def _integrator(xp, state, action, disturbance):
    position, velocity = state
    return position + 0.1 * velocity, velocity + 0.1 * action[0]


DOUBLE = Plant(
    name="double integrator",
    step=_integrator,
    states={"position": (-1.0, 1.0), "velocity": (-0.5, 0.5)},
    actions=Actions.box(("force",), (-5.0,), (5.0,), dtype="float64"),
    observed_as="float64",
)
DAMPING = CrispTree.from_nested(
    {"force": (0.0, {"position": -2.0, "velocity": -3.0})},
    DOUBLE.feature_names,
    actions=DOUBLE.actions,
)
"""One linear leaf that brings it to rest."""
