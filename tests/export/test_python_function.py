import numpy as np
import pytest
from export_trees import EVERY, HOSTILE, HOSTILE_NAMES, grown
from hypothesis import given
from tree_strategies import NESTED, one_of_every_cell, tree_of

from crisptree.crisp import CrispTree
from crisptree.export import as_python, check
from crisptree.export.python_function import decider

SMALL = CrispTree.from_nested(
    ("angle", 0.25, ("speed", -1e-07, "right", "left"), "left"),
    ("angle", "speed"),
    ("left", "right"),
    env_id="Pole-v1",
)
GOLDEN = '''\
# Pole-v1: rule list, 3 leaves, depth 2.
# A feature that is NaN makes every comparison with it FALSE.
# Written by crisptree {version}.

FEATURES = (
    'angle',
    'speed',
)
ACTIONS = (
    'left',
    'right',
)


def act(x):
    """The number of the action for one observation: a list, a tuple or an array."""
    if type(x) is not list and type(x) is not tuple:
        x = x.tolist()
    if not x[0] > 0.25:  # angle
        return 0  # left
    if x[1] > -1e-07:  # speed
        return 1  # right
    return 0  # left
'''


def module(tree):
    names: dict = {}
    exec(as_python(tree), names)
    return names


def test_the_source():
    from importlib.metadata import version

    kind = "rule list" if SMALL.is_rule_list else "decision tree"
    golden = GOLDEN.format(version=version("crisptree")).replace("rule list", kind)
    assert as_python(SMALL) == golden


@given(NESTED)
def test_it_decides_as_the_tree_for_any_kind_of_observation(nested):
    tree = tree_of(nested)
    act = module(tree)["act"]
    for state in one_of_every_cell(tree)[:100]:
        expected = tree.predict(state)[0]
        assert act(state) == act(state.tolist()) == act(tuple(state.tolist())) == expected


def test_a_float32_observation_is_compared_exactly():
    tree = CrispTree.from_nested(("a", 0.1, 1, 0), ("a",), ("low", "high"))
    assert module(tree)["act"](np.array([0.1], np.float32)) == 1
    assert module(tree)["act"](np.array([0.1])) == 0


@pytest.mark.parametrize("tree", EVERY.values(), ids=EVERY)
def test_odd_trees(tree):
    assert check(tree, decider(as_python(tree)), np.float64, 200) >= 200


def test_names_stay_names():
    names = module(HOSTILE)
    assert names["FEATURES"] == names["ACTIONS"] == HOSTILE_NAMES
    assert set(names) == {"__builtins__", "FEATURES", "ACTIONS", "act"}


def test_a_deep_tree_compiles():
    deep = grown(3000, 0)
    assert module(deep)["act"](np.zeros(8)) == deep.predict(np.zeros(8))[0]
