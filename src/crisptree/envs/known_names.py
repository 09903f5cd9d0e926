"""The names of well-known environments, by id without version: data, in the order of their
documentation."""

from collections.abc import Sequence

from crisptree.envs import wildfire, zerglings

Names = tuple[str, ...]


def _listed(names: str) -> Names:
    return tuple(name.strip() for name in names.split(","))


def _numbered(name: str, n: int) -> Names:
    return tuple(f"{name} {at}" for at in range(n))


def _axes(*things: str) -> Names:
    return tuple(f"{thing} {axis}" for thing in things for axis in "xyz")


def _angles(joints: Sequence[str]) -> Names:
    return tuple(f"{joint} angle" for joint in joints)


def _speeds(joints: Sequence[str]) -> Names:
    return tuple(f"{joint} angular velocity" for joint in joints)


def _free_body(joints: Names) -> Names:
    """Positions and velocities of a torso that moves freely, and of its joints."""
    turned = tuple(f"torso orientation {axis}" for axis in "wxyz")
    moves = _axes("torso velocity", "torso angular velocity")
    return ("torso height", *turned, *_angles(joints), *moves, *_speeds(joints))


def _planar(joints: Names) -> Names:
    """The same of a torso that moves in a plane."""
    moves = ("forward velocity", "vertical velocity")
    return ("height", "torso angle", *_angles(joints), *moves, *_speeds(("torso", *joints)))


_LANDER = _listed(
    "horizontal position, vertical position, horizontal velocity, vertical velocity, angle, "
    "angular velocity, left leg contact, right leg contact"
)
_WALKER = _listed(
    "hull angle, hull angular velocity, horizontal velocity, vertical velocity, "
    "hip 1 angle, hip 1 speed, knee 1 angle, knee 1 speed, leg 1 contact, "
    "hip 2 angle, hip 2 speed, knee 2 angle, knee 2 speed, leg 2 contact"
) + _numbered("lidar", 10)
_WALKER_FLAGS = _listed("leg 1 contact, leg 2 contact")
_WALKER_ACTIONS = _listed("hip 1 torque, knee 1 torque, hip 2 torque, knee 2 torque")
_ARM = _listed(
    "shoulder pan, shoulder lift, upper arm roll, elbow flex, forearm roll, wrist flex, wrist roll"
)
_CHEETAH = _listed("back thigh, back shin, back foot, front thigh, front shin, front foot")
_HOPPER = _listed("thigh, leg, foot")
_WALKER2D = _listed("right thigh, right leg, right foot, left thigh, left leg, left foot")
_ANT = _listed(
    "front left hip, front left ankle, front right hip, front right ankle, "
    "back left hip, back left ankle, back right hip, back right ankle"
)
_HUMANOID = _listed(
    "abdomen z, abdomen y, abdomen x, right hip x, right hip z, right hip y, right knee, "
    "left hip x, left hip z, left hip y, left knee, right shoulder 1, right shoulder 2, "
    "right elbow, left shoulder 1, left shoulder 2, left elbow"
)
_HUMANOID_FEATURES = (
    *_free_body(_HUMANOID),
    *_numbered("inertia", 130),
    *_numbered("body velocity", 78),
    *_numbered("actuator force", 17),
    *_numbered("external force", 78),
)
_HUMANOID_ACTIONS = ("abdomen y", "abdomen z", *_HUMANOID[2:])
_CLIFF, _LAKE = _listed("up, right, down, left"), _listed("left, down, right, up")
_HIGHWAY = _listed("lane left, keep on, lane right, faster, slower")

FEATURES: dict[str, Names] = {
    "CartPole": _listed("cart position, cart velocity, pole angle, pole angular velocity"),
    "Acrobot": _listed(
        "cos of joint 1, sin of joint 1, cos of joint 2, sin of joint 2, "
        "angular velocity of joint 1, angular velocity of joint 2"
    ),
    **dict.fromkeys(("MountainCar", "MountainCarContinuous"), ("position", "velocity")),
    "Pendulum": _listed("cos of angle, sin of angle, angular velocity"),
    **dict.fromkeys(("LunarLander", "LunarLanderContinuous"), _LANDER),
    **dict.fromkeys(("BipedalWalker", "BipedalWalkerHardcore"), _WALKER),
    "Blackjack": _listed("player's sum, dealer's card, usable ace"),
    **dict.fromkeys(("FrozenLake", "FrozenLake8x8"), ("cell",)),
    **dict.fromkeys(("CliffWalking", "CliffWalkingSlippery"), ("cell",)),
    "Taxi": ("state",),
    "FourRooms-misc": _listed("row, column, goal row, goal column"),
    "UmbrellaChain-bsuite": _listed("it will rain, has an umbrella, time"),
    "Reacher": _listed(
        "cos of joint 1, cos of joint 2, sin of joint 1, sin of joint 2, target x, target y, "
        "angular velocity of joint 1, angular velocity of joint 2, fingertip x - target x, "
        "fingertip y - target y"
    ),
    "InvertedPendulum": _listed("cart position, pole angle, cart velocity, pole angular velocity"),
    "InvertedDoublePendulum": _listed(
        "cart position, sin of pole 1, sin of pole 2, cos of pole 1, cos of pole 2, cart velocity, "
        "angular velocity of pole 1, angular velocity of pole 2, constraint force"
    ),
    "HalfCheetah": _planar(_CHEETAH),
    "Hopper": _planar(_HOPPER),
    "Swimmer": _listed(
        "front tip angle, angle of rotor 1, angle of rotor 2, x velocity of the tip, "
        "y velocity of the tip, angular velocity of the tip, angular velocity of rotor 1, "
        "angular velocity of rotor 2"
    ),
    "Walker2d": _planar(_WALKER2D),
    "Pusher": (*_angles(_ARM), *_speeds(_ARM), *_axes("fingertip", "object", "goal")),
    "Ant": (*_free_body(_ANT), *_numbered("external force", 78)),
    **dict.fromkeys(("Humanoid", "HumanoidStandup"), _HUMANOID_FEATURES),
    "Wildfire": wildfire.FEATURE_NAMES,
    "Zerglings": zerglings.FEATURE_NAMES,
}

FLAGS: dict[str, Names] = {
    **dict.fromkeys(("LunarLander", "LunarLanderContinuous"), _LANDER[6:]),
    **dict.fromkeys(("BipedalWalker", "BipedalWalkerHardcore"), _WALKER_FLAGS),
    "Wildfire": _listed("closest to fire 1, closest to fire 2"),
}
"""Numbers of a Box that are 0 or 1."""

ORDERED: dict[str, Names] = {"Blackjack": ("dealer's card",)}
"""Discretes of few values that stay one number, since their order means something."""

ACTIONS: dict[str, Names] = {
    "CartPole": _listed("push left, push right"),
    "Acrobot": _listed("torque -1, no torque, torque +1"),
    "MountainCar": _listed("accelerate left, do not accelerate, accelerate right"),
    "MountainCarContinuous": ("force",),
    "Pendulum": ("torque",),
    "LunarLander": _listed("do nothing, fire left engine, fire main engine, fire right engine"),
    "LunarLanderContinuous": _listed("main engine, side engines"),
    **dict.fromkeys(("BipedalWalker", "BipedalWalkerHardcore"), _WALKER_ACTIONS),
    "Blackjack": _listed("stick, hit"),
    **dict.fromkeys(("FrozenLake", "FrozenLake8x8"), _LAKE),
    **dict.fromkeys(("CliffWalking", "CliffWalkingSlippery", "FourRooms-misc"), _CLIFF),
    "UmbrellaChain-bsuite": _listed("leave it, take the umbrella"),
    "Catch-bsuite": _listed("left, stay, right"),
    **dict.fromkeys(("highway", "highway-fast"), _HIGHWAY),
    "Taxi": _listed("south, north, east, west, pick up, drop off"),
    "Reacher": _listed("torque at joint 1, torque at joint 2"),
    "Pusher": _ARM,
    **dict.fromkeys(("InvertedPendulum", "InvertedDoublePendulum"), ("force on the cart",)),
    "HalfCheetah": _CHEETAH,
    "Hopper": _HOPPER,
    "Swimmer": _listed("rotor 1, rotor 2"),
    "Walker2d": _WALKER2D,
    "Ant": (*_ANT[6:], *_ANT[:6]),
    **dict.fromkeys(("Humanoid", "HumanoidStandup"), _HUMANOID_ACTIONS),
    "Wildfire": wildfire.ACTION_NAMES,
    "Zerglings": zerglings.ACTION_NAMES,
}
"""Of discrete actions the names of the actions, of real vectors those of the dimensions."""
