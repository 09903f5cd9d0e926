"""The trees whose pictures the tests know by heart."""

from crisptree.crisp import CrispTree

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
