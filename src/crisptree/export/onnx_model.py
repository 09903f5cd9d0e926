"""A tree as an ONNX model: `observation` float32 (N, F) in, `action` int64 (N,) out.

One TreeEnsembleRegressor whose only target is the number of the action, then a cast: the
classifier's operator treats two classes in a way of its own, and runtimes disagree about it.

The operator compares in float32, so every threshold becomes the largest float32 that is not above
it; a float32 is above the one exactly if it is above the other.
"""

import json
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.export.origin import about
from crisptree.export.states import not_above

OPSET, ML_OPSET, IR_VERSION = 17, 3, 8
MOST_ACTIONS = 2**24


def as_onnx(tree: CrispTree) -> bytes:
    """The model, serialised; names of features and actions are in its metadata."""
    onnx = _needed("onnx")
    from onnx import TensorProto, helper

    if tree.n_actions > MOST_ACTIONS:
        raise CrisptreeError(f"ONNX export takes at most {MOST_ACTIONS:,} actions")
    is_leaf = tree.feature < 0
    leaves = np.flatnonzero(is_leaf).tolist()
    regressor = helper.make_node(
        "TreeEnsembleRegressor",
        ["observation"],
        ["number"],
        domain="ai.onnx.ml",
        n_targets=1,
        nodes_treeids=[0] * tree.n_nodes,
        nodes_nodeids=list(range(tree.n_nodes)),
        nodes_featureids=np.where(is_leaf, 0, tree.feature).tolist(),
        nodes_values=not_above(tree.threshold, np.float32).tolist(),
        nodes_modes=["LEAF" if leaf else "BRANCH_GT" for leaf in is_leaf.tolist()],
        nodes_truenodeids=np.where(is_leaf, 0, tree.if_true).tolist(),
        nodes_falsenodeids=np.where(is_leaf, 0, tree.if_false).tolist(),
        target_treeids=[0] * len(leaves),
        target_nodeids=leaves,
        target_ids=[0] * len(leaves),
        target_weights=tree.action[is_leaf].astype(float).tolist(),
    )
    graph = helper.make_graph(
        [
            regressor,
            helper.make_node("Cast", ["number"], ["column"], to=TensorProto.INT64),
            helper.make_node("Reshape", ["column", "flat"], ["action"]),
        ],
        "policy",
        [helper.make_tensor_value_info("observation", TensorProto.FLOAT, ["N", tree.n_features])],
        [helper.make_tensor_value_info("action", TensorProto.INT64, ["N"])],
        [helper.make_tensor("flat", TensorProto.INT64, [1], [-1])],
    )
    model = helper.make_model(
        graph,
        producer_name="crisptree",
        doc_string=" ".join(about(tree)),
        opset_imports=[
            helper.make_opsetid("", OPSET),
            helper.make_opsetid("ai.onnx.ml", ML_OPSET),
        ],
        ir_version=IR_VERSION,
    )
    helper.set_model_props(
        model,
        {
            "feature_names": json.dumps(tree.feature_names),
            "action_names": json.dumps(tree.action_names),
        },
    )
    onnx.checker.check_model(model)
    return model.SerializeToString()


def decider(model: bytes) -> Callable[[NDArray], NDArray[np.int64]]:
    """The model in onnxruntime."""
    session = _needed("onnxruntime").InferenceSession(model, providers=["CPUExecutionProvider"])
    return lambda states: session.run(["action"], {"observation": states})[0]


def _needed(module: str):
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError:
        raise CrisptreeError(
            f"ONNX export needs {module}; pip install 'crisptree[onnx]' brings it"
        ) from None
