"""The trees whose pictures the tests know by heart."""

from crisptree.crisp import Actions, CrispTree, Feature

FEATURES = ("cart position", "cart velocity", "pole angle", "pole angular velocity")
ACTIONS = ("push left", "push right")


def cart_pole(nested) -> CrispTree:
    return CrispTree.from_nested(nested, FEATURES, ACTIONS, env_id="CartPole-v1")


LEAF = cart_pole("push right")
SMALL = cart_pole(("pole angular velocity", 0.24183, "push right", "push left"))
TREE = cart_pole(
    (
        "pole angular velocity",
        0.24183,
        ("pole angle", -0.05123, "push right", "push left"),
        ("cart position", -1.2, "push right", ("pole angle", 0.1, "push right", "push left")),
    )
)
LIST = cart_pole(
    (
        "pole angular velocity",
        0.24183,
        "push right",
        ("pole angle", -0.05123, ("cart velocity", 2.0, "push left", "push right"), "push left"),
    )
)

AWKWARD = CrispTree.from_nested(
    ('a "quoted" <b>&amp; | name_with*marks* `and` #35; [x](y)', 1.5, "\x1b[2J\n", "x" * 60),
    ('a "quoted" <b>&amp; | name_with*marks* `and` #35; [x](y)',),
    ("\x1b[2J\n", "x" * 60),
)

PENDULUM = CrispTree.from_nested(
    (
        "angular velocity",
        1.5,
        {"torque": (0.5, {"angular velocity": -3.1, "sin of angle": -8.25})},
        ("cos of angle", 0.2, {"torque": (1.2, {"angular velocity": -3.1})}, [-2.0]),
    ),
    ("cos of angle", "sin of angle", "angular velocity"),
    actions=Actions.box(("torque",), (-2.0,), (2.0,)),
    env_id="Pendulum-v1",
    training={"crisp_return": -158.25, "crisp_return_se": 9.1, "episodes": 100},
)
"""Linear leaves and one that holds a number."""
TWO_ENGINES = CrispTree.from_nested(
    (
        "vertical velocity",
        -0.3,
        ("angle", 0.1, [0.0, 0.75], [-0.5, -0.5]),
        {
            "main engine": (0.25, {"vertical velocity": -1.5, "angle": 0.25}),
            "side engine": -0.1,
        },
    ),
    ("angle", "vertical velocity"),
    actions=Actions.box(("main engine", "side engine"), (-1.0, -1.0), (1.0, 1.0)),
)
"""Leaves of two numbers, one of them with a formula."""
CAR = CrispTree.from_nested(
    (
        "offset",
        0.5,
        ["left", "off"],
        ("offset", -0.5, ["straight", "off"], ["right", "on"]),
    ),
    ("offset",),
    actions=Actions.multi_discrete(
        ("steer", "brake"), (("left", "straight", "right"), ("off", "on"))
    ),
)
"""Several choices at once."""
FLAGS = CrispTree.from_nested(
    (
        "left leg contact",
        0.456,
        ("row", 2.5, "stay", ("row", 0.5, "down", "up")),
        (
            "passenger",
            3.5,
            ("height", -0.25, "up", "stay"),
            ("passenger", 0.2, ("right leg contact", 0.5, "stay", "down"), "up"),
        ),
    ),
    action_names=("stay", "up", "down"),
    features=(
        Feature("left leg contact", "flag"),
        Feature("right leg contact", "flag"),
        Feature("row", "category", 0.0, 7.0),
        Feature("passenger", "category", 0.0, 4.0, ("R", "G", "Y", "B", "in the taxi")),
        Feature("height"),
    ),
)
"""Flags, whole numbers, categories with names, and a number."""
EXTREME = CrispTree.from_nested(
    (
        "a",
        1.7e308,
        0,
        ("a", -1.7e308, ("b", 5e-324, 1, ("b", 1e-300, 0, 1)), ("c", 1e308, 1, 0)),
    ),
    ("a", "b", "c"),
    ("x", "y"),
)
"""The largest and the smallest numbers there are."""
EVERY_KIND = {
    "leaf": LEAF,
    "small": SMALL,
    "tree": TREE,
    "list": LIST,
    "awkward": AWKWARD,
    "pendulum": PENDULUM,
    "two engines": TWO_ENGINES,
    "car": CAR,
    "flags": FLAGS,
    "extreme": EXTREME,
}
