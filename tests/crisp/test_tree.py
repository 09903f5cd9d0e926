import copy
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from tree_strategies import BOX, EVERY_KIND, LISTS, MULTI, NESTED, tree_of, tree_with

import crisptree
from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree

SITE = str(Path(np.__file__).parents[1])


def measured(nested) -> tuple[int, int]:
    """Leaves and depth, by the definition."""
    if not isinstance(nested, tuple):
        return 1, 0
    (leaves1, depth1), (leaves2, depth2) = measured(nested[2]), measured(nested[3])
    return leaves1 + leaves2, 1 + max(depth1, depth2)


@given(NESTED)
def test_counts(nested):
    tree = tree_of(nested)
    leaves, depth = measured(nested)
    assert (tree.n_leaves, tree.depth, tree.n_nodes) == (leaves, depth, 2 * leaves - 1)
    assert (tree.n_features, tree.n_actions) == (3, 3)


def test_a_lone_leaf():
    tree = CrispTree.leaf(1, ("x",), ("left", "right"), env_id="Some-v0", training={"seed": 3})
    assert (tree.n_nodes, tree.n_leaves, tree.depth, tree.is_rule_list) == (1, 1, 0, True)
    assert tree.predict([7.0]) == (1, None)
    assert tree.decision_path([7.0]) == (0,)
    assert (tree.env_id, tree.training) == ("Some-v0", {"seed": 3})


def test_repr_is_one_line():
    tree = tree_of((0, 0.5, 2, (1, 0.0, 1, 0)))
    assert repr(tree) == "CrispTree(3 leaves, depth 2, 3 features, 3 actions, env_id=None)"


def test_repr_of_other_leaves():
    assert repr(tree_with([0, 1], MULTI)).startswith("CrispTree(1 leaf, depth 0, 3 features, 2 pa")
    linear = tree_with([(0.0, {"a": 1.0}), 0.0], BOX)
    assert repr(linear).startswith("CrispTree(1 leaf, linear, depth 0, 3 features, 2 dimensions")


def test_equal_when_the_content_is():
    tree = tree_of((0, 0.5, 2, (1, -0.0, 1, 0)))
    same = CrispTree.from_dict(tree.to_dict())
    assert tree == same and hash(tree) == hash(same) and len({tree, same}) == 1
    others = [
        tree_of((0, 0.5, 2, (1, 0.0, 1, 1))),
        tree_of((0, 0.25, 2, (1, 0.0, 1, 0))),
        tree_of(0),
        replace(tree, env_id="Some-v0"),
        replace(tree, training={"seed": 1}),
        replace(tree, env_kwargs={"wind": 1}),
        replace(tree, action_names=("a", "b", "c")),
    ]
    assert all(tree != other for other in others)
    assert tree != "a tree"
    assert tree_with([(0.0, {"a": 1.0}), 0.0], BOX) != tree_with([0.0, 0.0], BOX)


def test_a_notebook_draws_it():
    drawing = tree_of((0, 0.5, 2, 1))._repr_svg_()
    assert drawing is not None and drawing.startswith("<svg")
    html = tree_of((0, 0.5, 2, 1))._repr_html_()
    assert html is not None and drawing in html


def test_a_notebook_without_drawings(monkeypatch):
    monkeypatch.setitem(sys.modules, "crisptree.show", None)
    tree = tree_of((0, 0.5, 2, 1))
    assert tree._repr_svg_() is None and tree._repr_html_() is None


def test_a_policy_needs_numpy_only():
    program = (
        "import sys, crisptree; tree = crisptree.CrispTree.load(sys.argv[1]);"
        "tree.predict([0.0] * tree.n_features);"
        "print(*{name.partition('.')[0] for name in sys.modules} - set(sys.stdlib_module_names))"
    )
    policy = Path(__file__).parents[2] / "policies" / "cartpole-tree-4.json"
    source = Path(crisptree.__file__).parents[1]
    program = f"import sys; sys.path += {[str(source), SITE]}; {program}"
    done = subprocess.run(
        [sys.executable, "-S", "-c", program, str(policy)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(done.stdout.split()) <= {"crisptree", "numpy", "__main__"}


@given(LISTS)
def test_a_rule_list_is_one(nested):
    tree = tree_of(nested)
    assert tree.is_rule_list


def test_what_is_no_rule_list():
    assert tree_of((0, 1.0, 0, (1, 2.0, 1, 0))).is_rule_list
    assert tree_of((0, 1.0, (1, 2.0, 1, 0), 0)).is_rule_list  # a rule may ask x ≤ 1
    assert not tree_of((0, 1.0, (1, 2.0, 1, 0), (1, 3.0, 1, 0))).is_rule_list


@given(EVERY_KIND)
def test_copies_are_alike_and_read_only(written):
    tree = tree_with(*written)
    for other in (pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree), copy.copy(tree)):
        assert other == tree
        assert not other.action.flags.writeable
        assert not other.threshold.flags.writeable


def test_predict_answers_as_stable_baselines_asks():
    tree = tree_of((0, 0.5, 2, 1))
    state, start = (np.zeros(1),), np.ones((2,), dtype=bool)
    batch = np.array([[1.0, 0, 0], [0.5, 0, 0]], dtype=np.float32)
    actions, new_state = tree.predict(batch, state=state, episode_start=start, deterministic=True)
    assert actions.dtype == np.int64
    assert actions.tolist() == [2, 1]
    assert new_state is state
    action, new_state = tree.predict(batch[0], deterministic=False)
    assert action.dtype == np.int64 and action.shape == ()
    assert (action, new_state) == (2, None)


def test_decision_path_takes_one_observation():
    tree = tree_of((0, 0.5, 2, (1, 0.0, 1, 0)))
    assert tree.decision_path([0, 1, 0]) == (0, 2, 3)
    with pytest.raises(CrisptreeError, match=r"one observation of shape \(3,\); this one has"):
        tree.decision_path(np.zeros((2, 3)))


@given(NESTED)
def test_to_dict_and_back(nested):
    tree = tree_of(nested)
    assert CrispTree.from_dict(tree.to_dict()).to_dict() == tree.to_dict()
