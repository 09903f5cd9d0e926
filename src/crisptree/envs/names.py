"""What the numbers of the gymnasium classics mean, for trees that are read by people."""

import re

from crisptree.envs import wildfire, zerglings

FEATURES: dict[str, tuple[str, ...]] = {
    "CartPole": ("cart position", "cart velocity", "pole angle", "pole angular velocity"),
    "Acrobot": (
        "cos of joint 1",
        "sin of joint 1",
        "cos of joint 2",
        "sin of joint 2",
        "angular velocity of joint 1",
        "angular velocity of joint 2",
    ),
    "MountainCar": ("position", "velocity"),
    "LunarLander": (
        "horizontal position",
        "vertical position",
        "horizontal velocity",
        "vertical velocity",
        "angle",
        "angular velocity",
        "left leg contact",
        "right leg contact",
    ),
    "Wildfire": wildfire.FEATURE_NAMES,
    "Zerglings": zerglings.FEATURE_NAMES,
}

ACTIONS: dict[str, tuple[str, ...]] = {
    "CartPole": ("push left", "push right"),
    "Acrobot": ("torque -1", "no torque", "torque +1"),
    "MountainCar": ("accelerate left", "do not accelerate", "accelerate right"),
    "LunarLander": (
        "do nothing",
        "fire left engine",
        "fire main engine",
        "fire right engine",
    ),
    "Wildfire": wildfire.ACTION_NAMES,
    "Zerglings": zerglings.ACTION_NAMES,
}


def feature_names(env_id: str | None, n: int) -> tuple[str, ...]:
    """The names of an environment's `n` features; x0, x1, … where none are known."""
    return _known(FEATURES, env_id, n) or tuple(f"x{at}" for at in range(n))


def action_names(env_id: str | None, n: int) -> tuple[str, ...]:
    """The names of an environment's `n` actions; action 0, action 1, … where none are known."""
    return _known(ACTIONS, env_id, n) or tuple(f"action {at}" for at in range(n))


def _known(table: dict[str, tuple[str, ...]], env_id: str | None, n: int) -> tuple[str, ...] | None:
    """The row for the id without its module, namespace and version, if it has `n` names.

    Another count means that the environment was wrapped into something else.
    """
    bare = re.sub(r"^.*[:/]|-v\d+$", "", env_id or "")
    names = table.get(bare, ())
    return names if len(names) == n else None
