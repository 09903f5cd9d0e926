"""The names of gymnasium's MuJoCo environments, in the order of its documentation: data."""

_HUMANOID_JOINTS = (
    "abdomen z",
    "abdomen y",
    "abdomen x",
    "right hip x",
    "right hip z",
    "right hip y",
    "right knee",
    "left hip x",
    "left hip z",
    "left hip y",
    "left knee",
    "right shoulder 1",
    "right shoulder 2",
    "right elbow",
    "left shoulder 1",
    "left shoulder 2",
    "left elbow",
)
_ANT_JOINTS = (
    "front left hip",
    "front left ankle",
    "front right hip",
    "front right ankle",
    "back left hip",
    "back left ankle",
    "back right hip",
    "back right ankle",
)
_ARM_JOINTS = (
    "shoulder pan",
    "shoulder lift",
    "upper arm roll",
    "elbow flex",
    "forearm roll",
    "wrist flex",
    "wrist roll",
)


def _free_body(joints: tuple[str, ...]) -> tuple[str, ...]:
    """Positions and velocities of a torso that moves freely, and of its joints."""
    return (
        "torso height",
        *(f"torso orientation {axis}" for axis in "wxyz"),
        *(f"{joint} angle" for joint in joints),
        *(f"torso velocity {axis}" for axis in "xyz"),
        *(f"torso angular velocity {axis}" for axis in "xyz"),
        *(f"{joint} angular velocity" for joint in joints),
    )


def _numbered(name: str, n: int) -> tuple[str, ...]:
    return tuple(f"{name} {at}" for at in range(n))


_HUMANOID = (
    *_free_body(_HUMANOID_JOINTS),
    *_numbered("inertia", 130),
    *_numbered("body velocity", 78),
    *_numbered("actuator force", 17),
    *_numbered("external force", 78),
)
_HUMANOID_ACTIONS = ("abdomen y", "abdomen z", *_HUMANOID_JOINTS[2:])

FEATURES: dict[str, tuple[str, ...]] = {
    "Reacher": (
        "cos of joint 1",
        "cos of joint 2",
        "sin of joint 1",
        "sin of joint 2",
        "target x",
        "target y",
        "angular velocity of joint 1",
        "angular velocity of joint 2",
        "fingertip x - target x",
        "fingertip y - target y",
    ),
    "InvertedPendulum": ("cart position", "pole angle", "cart velocity", "pole angular velocity"),
    "InvertedDoublePendulum": (
        "cart position",
        "sin of pole 1",
        "sin of pole 2",
        "cos of pole 1",
        "cos of pole 2",
        "cart velocity",
        "angular velocity of pole 1",
        "angular velocity of pole 2",
        "constraint force",
    ),
    "HalfCheetah": (
        "height",
        "torso angle",
        "back thigh angle",
        "back shin angle",
        "back foot angle",
        "front thigh angle",
        "front shin angle",
        "front foot angle",
        "forward velocity",
        "vertical velocity",
        "torso angular velocity",
        "back thigh angular velocity",
        "back shin angular velocity",
        "back foot angular velocity",
        "front thigh angular velocity",
        "front shin angular velocity",
        "front foot angular velocity",
    ),
    "Hopper": (
        "height",
        "torso angle",
        "thigh angle",
        "leg angle",
        "foot angle",
        "forward velocity",
        "vertical velocity",
        "torso angular velocity",
        "thigh angular velocity",
        "leg angular velocity",
        "foot angular velocity",
    ),
    "Swimmer": (
        "front tip angle",
        "angle of rotor 1",
        "angle of rotor 2",
        "x velocity of the tip",
        "y velocity of the tip",
        "angular velocity of the tip",
        "angular velocity of rotor 1",
        "angular velocity of rotor 2",
    ),
    "Walker2d": (
        "height",
        "torso angle",
        "right thigh angle",
        "right leg angle",
        "right foot angle",
        "left thigh angle",
        "left leg angle",
        "left foot angle",
        "forward velocity",
        "vertical velocity",
        "torso angular velocity",
        "right thigh angular velocity",
        "right leg angular velocity",
        "right foot angular velocity",
        "left thigh angular velocity",
        "left leg angular velocity",
        "left foot angular velocity",
    ),
    "Pusher": (
        *(f"{joint} angle" for joint in _ARM_JOINTS),
        *(f"{joint} angular velocity" for joint in _ARM_JOINTS),
        *(f"fingertip {axis}" for axis in "xyz"),
        *(f"object {axis}" for axis in "xyz"),
        *(f"goal {axis}" for axis in "xyz"),
    ),
    "Ant": (*_free_body(_ANT_JOINTS), *_numbered("external force", 78)),
    "Humanoid": _HUMANOID,
    "HumanoidStandup": _HUMANOID,
}

ACTIONS: dict[str, tuple[str, ...]] = {
    "Reacher": ("torque at joint 1", "torque at joint 2"),
    "Pusher": _ARM_JOINTS,
    "InvertedPendulum": ("force on the cart",),
    "InvertedDoublePendulum": ("force on the cart",),
    "HalfCheetah": (
        "back thigh",
        "back shin",
        "back foot",
        "front thigh",
        "front shin",
        "front foot",
    ),
    "Hopper": ("thigh", "leg", "foot"),
    "Swimmer": ("rotor 1", "rotor 2"),
    "Walker2d": (
        "right thigh",
        "right leg",
        "right foot",
        "left thigh",
        "left leg",
        "left foot",
    ),
    "Ant": (*_ANT_JOINTS[6:], *_ANT_JOINTS[:6]),
    "Humanoid": _HUMANOID_ACTIONS,
    "HumanoidStandup": _HUMANOID_ACTIONS,
}
