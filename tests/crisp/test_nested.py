import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree

FEATURES = ("angle", "velocity")
ACTIONS = ("left", "right")


def test_numbered_depth_first_true_child_first():
    nested = ("velocity", 0.24, ("angle", -1, "left", "right"), "left")
    tree = CrispTree.from_nested(nested, FEATURES, ACTIONS)
    assert tree.to_dict()["tree"] == {
        "feature": [1, 0, -1, -1, -1],
        "threshold": [0.24, -1.0, 0.0, 0.0, 0.0],
        "if_true": [1, 2, -1, -1, -1],
        "if_false": [4, 3, -1, -1, -1],
        "action": [None, None, 0, 1, 0],
    }


def test_names_and_numbers_say_the_same():
    by_name = CrispTree.from_nested(("angle", 1, "left", "right"), FEATURES, ACTIONS)
    by_number = CrispTree.from_nested((0, 1, 0, 1), FEATURES, ACTIONS)
    assert by_name.to_dict() == by_number.to_dict()


@pytest.mark.parametrize(
    ("nested", "message"),
    [
        (("speed", 1, 0, 1), "there is no feature 'speed'; the features are angle, velocity"),
        ((0, 1, 0, 2), "there is no action 2; the actions are left, right, or 0 … 1"),
        ((0, 1, 0), "this one has 3 parts"),
        ((0, "1", 0, 1), "a threshold must be a number; this one is '1'"),
        ((0, float("nan"), 0, 1), r"tree.threshold\[0\] is nan"),
    ],
)
def test_mistakes_are_named(nested, message):
    with pytest.raises(CrisptreeError, match=message):
        CrispTree.from_nested(nested, FEATURES, ACTIONS)


def test_a_very_deep_tree():
    nested = 0
    for at in range(20_000):
        nested = (0, float(at), 1, nested)
    tree = CrispTree.from_nested(nested, FEATURES, ACTIONS)
    assert tree.depth == 20_000
    assert tree.predict([0.5, 0.0])[0] == 1
