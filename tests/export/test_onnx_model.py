import json

import numpy as np
import pytest
from export_trees import EVERY, HOSTILE, HOSTILE_NAMES, KINDS, grown, long_list

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.export import as_onnx, check
from crisptree.export.onnx_model import decider

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")


@pytest.mark.parametrize("tree", [*EVERY.values(), long_list(3000)], ids=[*EVERY, "long list"])
def test_odd_trees(tree):
    assert check(tree, decider(as_onnx(tree)), np.float32, 2000) >= 2000


@pytest.mark.parametrize("actions", [1, 2, 3])
def test_one_two_and_three_actions(actions):
    names = [f"action {at}" for at in range(actions)]
    tree = CrispTree.from_nested((0, 0.1, actions - 1, (1, -0.7, 0, actions // 2)), "ab", names)
    assert check(tree, decider(as_onnx(tree)), np.float32, 2000) >= 2000


def test_shapes_types_and_names():
    model = onnx.load_from_string(as_onnx(HOSTILE))
    session = decider(model.SerializeToString())
    assert session(np.zeros((0, 8), np.float32)).shape == (0,)
    assert session(np.zeros((3, 8), np.float32)).dtype == np.int64
    said = {each.key: json.loads(each.value) for each in model.metadata_props}
    assert said == {"feature_names": [*HOSTILE_NAMES], "action_names": [*HOSTILE_NAMES]}


def test_the_reference_implementation_agrees():
    from onnx.reference import ReferenceEvaluator

    tree = grown(16, 2)
    states = np.random.default_rng(0).normal(size=(100, 8)).astype(np.float32)
    (found,) = ReferenceEvaluator(as_onnx(tree)).run(["action"], {"observation": states})
    assert np.array_equal(found, tree.predict(states)[0])


def test_without_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(CrisptreeError, match=r"pip install 'crisptree\[onnx\]'"):
        as_onnx(grown(2, 0))


def test_shapes_and_types_of_other_actions():
    types = {"several choices": ("int64", 2), "vectors": ("float32", 2), "formulas": ("float32", 2)}
    for name, (dtype, n_values) in {**types, "one formula": ("float64", 1)}.items():
        found = decider(as_onnx(KINDS[name]))(np.zeros((3, 3), np.float32))
        assert (found.dtype, found.shape) == (dtype, (3, n_values))


def test_the_reference_implementation_computes_formulas_alike():
    from onnx.reference import ReferenceEvaluator

    tree = KINDS["formulas"]
    states = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    (found,) = ReferenceEvaluator(as_onnx(tree)).run(["action"], {"observation": states})
    assert np.array_equal(found, tree.predict(states)[0])
