"""The names of well-known environments, by id without version: data."""

from crisptree.envs import known_names_mujoco as mujoco
from crisptree.envs import wildfire, zerglings

_LANDER = (
    "horizontal position",
    "vertical position",
    "horizontal velocity",
    "vertical velocity",
    "angle",
    "angular velocity",
    "left leg contact",
    "right leg contact",
)
_WALKER = (
    "hull angle",
    "hull angular velocity",
    "horizontal velocity",
    "vertical velocity",
    "hip 1 angle",
    "hip 1 speed",
    "knee 1 angle",
    "knee 1 speed",
    "leg 1 contact",
    "hip 2 angle",
    "hip 2 speed",
    "knee 2 angle",
    "knee 2 speed",
    "leg 2 contact",
    *(f"lidar {ray}" for ray in range(10)),
)
_WALKER_ACTIONS = ("hip 1 torque", "knee 1 torque", "hip 2 torque", "knee 2 torque")

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
    "MountainCarContinuous": ("position", "velocity"),
    "Pendulum": ("cos of angle", "sin of angle", "angular velocity"),
    "LunarLander": _LANDER,
    "LunarLanderContinuous": _LANDER,
    "BipedalWalker": _WALKER,
    "BipedalWalkerHardcore": _WALKER,
    "Blackjack": ("player's sum", "dealer's card", "usable ace"),
    "FrozenLake": ("cell",),
    "FrozenLake8x8": ("cell",),
    "CliffWalking": ("cell",),
    "CliffWalkingSlippery": ("cell",),
    "Taxi": ("state",),
    "FourRooms-misc": ("row", "column", "goal row", "goal column"),
    "UmbrellaChain-bsuite": ("it will rain", "has an umbrella", "time"),
    **mujoco.FEATURES,
    "Wildfire": wildfire.FEATURE_NAMES,
    "Zerglings": zerglings.FEATURE_NAMES,
}

FLAGS: dict[str, tuple[str, ...]] = {
    "LunarLander": _LANDER[6:],
    "LunarLanderContinuous": _LANDER[6:],
    "BipedalWalker": ("leg 1 contact", "leg 2 contact"),
    "BipedalWalkerHardcore": ("leg 1 contact", "leg 2 contact"),
    "Wildfire": ("closest to fire 1", "closest to fire 2"),
}
"""Numbers of a Box that are 0 or 1."""

ORDERED: dict[str, tuple[str, ...]] = {"Blackjack": ("dealer's card",)}
"""Discretes of few values that stay one number, since their order means something."""

ACTIONS: dict[str, tuple[str, ...]] = {
    "CartPole": ("push left", "push right"),
    "Acrobot": ("torque -1", "no torque", "torque +1"),
    "MountainCar": ("accelerate left", "do not accelerate", "accelerate right"),
    "MountainCarContinuous": ("force",),
    "Pendulum": ("torque",),
    "LunarLander": (
        "do nothing",
        "fire left engine",
        "fire main engine",
        "fire right engine",
    ),
    "LunarLanderContinuous": ("main engine", "side engines"),
    "BipedalWalker": _WALKER_ACTIONS,
    "BipedalWalkerHardcore": _WALKER_ACTIONS,
    "Blackjack": ("stick", "hit"),
    "FrozenLake": ("left", "down", "right", "up"),
    "FrozenLake8x8": ("left", "down", "right", "up"),
    "CliffWalking": ("up", "right", "down", "left"),
    "CliffWalkingSlippery": ("up", "right", "down", "left"),
    "FourRooms-misc": ("up", "right", "down", "left"),
    "UmbrellaChain-bsuite": ("leave it", "take the umbrella"),
    "Catch-bsuite": ("left", "stay", "right"),
    "highway": ("lane left", "keep on", "lane right", "faster", "slower"),
    "highway-fast": ("lane left", "keep on", "lane right", "faster", "slower"),
    "Taxi": ("south", "north", "east", "west", "pick up", "drop off"),
    **mujoco.ACTIONS,
    "Wildfire": wildfire.ACTION_NAMES,
    "Zerglings": zerglings.ACTION_NAMES,
}
"""Of discrete actions the names of the actions, of real vectors those of the dimensions."""
