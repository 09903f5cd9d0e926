from typing import Any

import numpy as np
import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree, checks, structure

# 0: a > 0.5 → 1: left, else 2: b > -1 → 3: right, else 4: left
GOOD = {
    "feature": [0, -1, 1, -1, -1],
    "threshold": [0.5, 0.0, -1.0, 0.0, 0.0],
    "if_true": [1, -1, 3, -1, -1],
    "if_false": [2, -1, 4, -1, -1],
    "action": [-1, 0, -1, 1, 0],
}


def tree_with(**change: list) -> CrispTree:
    arrays: dict[str, Any] = {name: np.array(column) for name, column in {**GOOD, **change}.items()}
    return CrispTree(**arrays, feature_names=("a", "b"), action_names=("left", "right"))


def test_a_tree_is_accepted():
    tree = tree_with()
    assert tree.n_leaves == 3
    assert {name: getattr(tree, name).dtype.name for name in GOOD} == {
        "feature": "int32",
        "threshold": "float64",
        "if_true": "int32",
        "if_false": "int32",
        "action": "int32",
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"feature": [0, -1, 2, -1, -1]}, r"tree\.feature\[2\] is 2; the features are 0 … 1"),
        ({"feature": [0, -1, -2, -1, -1]}, r"tree\.feature\[2\] is -2"),
        ({"feature": [0, -1, 2**31, -1, -1]}, r"tree\.feature\[2\] is 2147483648"),
        ({"feature": [0, -1, 1.0, -1, -1]}, r"tree\.feature must hold whole numbers"),
        ({"feature": [True] * 5}, r"tree\.feature must hold whole numbers"),
        ({"feature": [[0]]}, r"tree\.feature must be a flat list; its shape is \(1, 1\)"),
        ({"threshold": [0.5, 0, float("nan"), 0, 0]}, r"tree\.threshold\[2\] is nan; .*finite"),
        ({"threshold": [float("inf"), 0, 0, 0, 0]}, r"tree\.threshold\[0\] is inf; .*finite"),
        ({"threshold": ["1", "0", "0", "0", "0"]}, r"tree\.threshold must hold numbers"),
        ({"threshold": [0.5, 0, -1, 0, 3]}, r"tree\.threshold\[4\] is 3.0; at a leaf"),
        ({"threshold": [0.5]}, r"tree\.threshold has 1 entries and tree\.feature has 5"),
        ({"action": [-1, 0, -1, 1]}, r"tree\.action has 4 entries and tree\.feature has 5"),
        ({"action": [-1, 0, -1, 1, 2]}, r"tree\.action\[4\] is 2; a leaf's actions are 0 … 1"),
        ({"action": [-1, 0, -1, 1, -1]}, r"tree\.action\[4\] is -1"),
        ({"action": [0, 0, -1, 1, 0]}, r"tree\.action\[0\] is 0; at an inner node"),
        ({"if_true": [5, -1, 3, -1, -1]}, r"tree\.if_true\[0\] is 5; the nodes are 0 … 4"),
        ({"if_true": [-1, -1, 3, -1, -1]}, r"tree\.if_true\[0\] is -1"),
        ({"if_false": [2, 3, 4, -1, -1]}, r"tree\.if_false\[1\] is 3; at a leaf"),
        ({"if_false": [2, -1, 0, -1, -1]}, r"tree\.if_false\[2\] is 0, .*no cycles"),
        ({"if_false": [2, -1, 2, -1, -1]}, r"tree\.if_false\[2\] is 2, .*no cycles"),
        ({"if_false": [1, -1, 4, -1, -1]}, r"tree\.if_false\[0\] is 1, .*no shared children"),
    ],
)
def test_the_field_at_fault_is_named(change, message):
    with pytest.raises(CrisptreeError, match=message):
        tree_with(**change)


def test_no_nodes_at_all():
    nothing = np.array([], dtype=np.int32)
    with pytest.raises(CrisptreeError, match=r"tree\.feature is empty"):
        structure.binary_tree(nothing, np.array([]), nothing, nothing, nothing, 1)


def test_a_ragged_list():
    with pytest.raises(CrisptreeError, match="x must be a flat list of numbers"):
        checks.whole_numbers("x", [[0], [1, 2]])


def test_nodes_that_nothing_leads_to_are_refused():
    """A detached pair of nodes that lead to each other: every child has one parent."""
    with pytest.raises(CrisptreeError, match="never lead to node 1"):
        tree_with(
            feature=[-1, 0, 0, -1, -1],
            threshold=[0.0] * 5,
            if_true=[-1, 2, 1, -1, -1],
            if_false=[-1, 3, 4, -1, -1],
            action=[0, -1, -1, 0, 0],
        )


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("a", "b", "a"), r"names\[2\] repeats 'a' of names\[0\]; names must differ"),
        (("a", ""), r"names\[1\] is empty"),
        (("a", "\ud800"), r"names\[1\] holds half a surrogate pair"),
        (("a", 3), r"names\[1\] must be text; it is int"),
        (("a", None), r"names\[1\] must be text; it is NoneType"),
        ("ab", r"names must be a list of names; it is str"),
        ({"a": 1}, r"names must be a list of names; it is dict"),
        ((), r"names is empty"),
    ],
)
def test_names(names, message):
    with pytest.raises(CrisptreeError, match=message):
        checks.names("names", names)


def test_the_arrays_are_copies_nobody_can_write_to():
    given = np.array([0.5, 0.0, -1.0, 0.0, 0.0])
    kept = checks.finite_numbers("x", given)
    given[0] = 9.0
    assert kept[0] == 0.5
    tree = tree_with()
    for name in GOOD:
        with pytest.raises(ValueError, match="read-only"):
            getattr(tree, name)[0] = 0


def test_minus_zero_is_zero():
    assert not np.signbit(checks.finite_numbers("x", [-0.0, 0.0])).any()
