"""A tree as an ONNX model: `observation` float32 (N, F) in, `action` out.

One TreeEnsembleRegressor finds the leaf, whose number picks the action from a table: the
classifier's operator treats two classes in a way of its own, and runtimes disagree about it. The
formulas of linear leaves are computed in float64, term by term.

The operator compares in float32, so every threshold becomes the largest float32 that is not above
it; a float32 is above the one exactly if it is above the other.
"""

import importlib
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree, Feature
from crisptree.crisp.rounding import not_above
from crisptree.export.about import about
from crisptree.export.leaves import observed_names, outputs, terms

OPSET, ML_OPSET, IR_VERSION = 17, 3, 8
MOST_LEAVES = 2**24


def as_onnx(tree: CrispTree) -> bytes:
    """The model, serialised; names of features and actions are in its metadata.

    `action` is int64 `(N,)` for discrete actions, int64 `(N, parts)`, or `(N, dimensions)` in the
    environment's type.
    """
    onnx = _needed("onnx")
    from onnx import helper, numpy_helper

    if tree.n_leaves > MOST_LEAVES:
        raise CrisptreeError(f"ONNX export takes at most {MOST_LEAVES:,} leaves")
    graph = _Graph()
    plain, seen = _with_answers(tree, graph)
    graph.add("TreeEnsembleRegressor", seen, "number", "ai.onnx.ml", **_ensemble(plain))
    graph.add("Cast", "number", "column", to=onnx.TensorProto.INT64)
    graph.add("Reshape", ["column", graph.constant("flat", np.array([-1]))], "leaf")
    dtype = _actions(tree, graph)
    shape = ["N"] if tree.actions.kind == "discrete" else ["N", tree.actions.n_values]
    number, real = (helper.np_dtype_to_tensor_dtype(np.dtype(each)) for each in (dtype, "float32"))
    model = helper.make_model(
        helper.make_graph(
            [helper.make_node(*args, **kwargs) for args, kwargs in graph.nodes],
            "policy",
            [helper.make_tensor_value_info("observation", real, ["N", tree.n_features])],
            [helper.make_tensor_value_info("action", number, shape)],
            [numpy_helper.from_array(value, name) for name, value in graph.constants.items()],
        ),
        producer_name="crisptree",
        doc_string=" ".join(about(tree)),
        opset_imports=[
            helper.make_opsetid("", OPSET),
            helper.make_opsetid("ai.onnx.ml", ML_OPSET),
        ],
        ir_version=IR_VERSION,
    )
    names: dict[str, Any] = {
        "feature_names": observed_names(tree),
        "action_names": tree.action_names,
    }
    if tree.actions.choices:
        names["choices"] = tree.actions.choices
    helper.set_model_props(model, {name: json.dumps(value) for name, value in names.items()})
    onnx.checker.check_model(model)
    return model.SerializeToString()


class _Graph:
    """Nodes and constants, as they are made."""

    def __init__(self) -> None:
        self.nodes: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
        self.constants: dict[str, NDArray] = {}

    def constant(self, name: str, value: NDArray) -> str:
        self.constants[name] = value
        return name

    def add(
        self, operator: str, inputs: str | list[str], output: str, domain: str = "", **others: Any
    ) -> str:
        """Add a node and return the name of its output."""
        inputs = [inputs] if isinstance(inputs, str) else inputs
        self.nodes.append(((operator, inputs, [output]), {"domain": domain, **others}))
        return output


def _with_answers(tree: CrispTree, graph: _Graph) -> tuple[CrispTree, str]:
    """A tree that asks for plain columns, and what it looks at: the observation, and a flag for
    each comparison of a derived feature, which is summed and compared in float64."""
    asked = sorted({(f, t) for f, t, _, _ in tree.nodes if f >= tree.n_features})
    if not asked:
        return tree, "observation"
    from onnx import TensorProto

    graph.add("Cast", "observation", "double", to=TensorProto.DOUBLE)
    columns = ["observation"]
    for at, (feature, threshold) in enumerate(asked):
        value = ""
        for place, (summed, weight) in enumerate(tree.features[feature].terms):
            name = f"{at}_{place}"
            index = graph.constant(f"summed{name}", np.array([summed]))
            picked = graph.add("Gather", ["double", index], f"picked{name}", axis=1)
            factor = graph.constant(f"factor{name}", np.array([weight]))
            product = graph.add("Mul", [picked, factor], f"term{name}")
            value = graph.add("Add", [value, product], f"total{name}") if value else product
        limit = graph.constant(f"limit{at}", np.array([threshold]))
        is_true = graph.add("Greater", [value, limit], f"answer{at}")
        columns.append(graph.add("Cast", is_true, f"flag{at}", to=TensorProto.FLOAT))
    graph.add("Concat", columns, "seen", axis=1)
    places = {question: tree.n_features + at for at, question in enumerate(asked)}
    pairs = [(feature, threshold) for feature, threshold, _, _ in tree.nodes]
    plain = replace(
        tree,
        features=(
            *tree.features[: tree.n_features],
            *(Feature(f"answer {at}", "flag") for at in range(len(asked))),
        ),
        feature_names=(),
        feature=np.array([places.get(pair, pair[0]) for pair in pairs]),
        threshold=np.array([0.5 if pair in places else pair[1] for pair in pairs]),
    )
    return plain, "seen"


def _ensemble(tree: CrispTree) -> dict[str, Any]:
    """The tree as the operator takes it; the target is the place of the leaf among the leaves."""
    is_leaf = tree.feature < 0
    leaves = np.flatnonzero(is_leaf).tolist()
    return {
        "n_targets": 1,
        "nodes_treeids": [0] * tree.n_nodes,
        "nodes_nodeids": list(range(tree.n_nodes)),
        "nodes_featureids": np.where(is_leaf, 0, tree.feature).tolist(),
        "nodes_values": not_above(tree.threshold, np.float32).tolist(),
        "nodes_modes": ["LEAF" if leaf else "BRANCH_GT" for leaf in is_leaf.tolist()],
        "nodes_truenodeids": np.where(is_leaf, 0, tree.if_true).tolist(),
        "nodes_falsenodeids": np.where(is_leaf, 0, tree.if_false).tolist(),
        "target_treeids": [0] * len(leaves),
        "target_nodeids": leaves,
        "target_ids": [0] * len(leaves),
        "target_weights": [float(at) for at in range(len(leaves))],
    }


def _actions(tree: CrispTree, graph: _Graph) -> str:
    """Add the nodes that turn `leaf` into `action`; return the type of its numbers."""
    leaves = np.flatnonzero(tree.feature < 0).tolist()
    given = outputs(tree)
    rows = np.array([given[leaf] for leaf in leaves])
    dtype = tree.actions.dtype if tree.actions.kind == "box" else "int64"
    if not tree.is_linear:
        table = rows[:, 0] if tree.actions.kind == "discrete" else rows
        graph.add("Gather", [graph.constant("actions", table.astype(dtype)), "leaf"], "action")
        return dtype
    from onnx import TensorProto, helper

    x = graph.add("Cast", "observation", "x", to=TensorProto.DOUBLE)
    value = graph.add("Gather", [graph.constant("constants", rows), "leaf"], "sum")
    for slot, (features, weights) in enumerate(_slots(tree, leaves)):
        tables = {"feature": features, "weight": weights, "used": weights != 0.0}
        picked = {
            name: graph.add(
                "Gather", [graph.constant(f"{name}s{slot}", table), "leaf"], f"{name}{slot}"
            )
            for name, table in tables.items()
        }
        at = graph.add("GatherElements", [x, picked["feature"]], f"x{slot}", axis=1)
        product = graph.add("Mul", [picked["weight"], at], f"product{slot}")
        added = graph.add("Add", [value, product], f"added{slot}")
        value = graph.add("Where", [picked["used"], added, value], f"sum{slot}")
    for bound, operator in (("low", "Greater"), ("high", "Less")):
        limit = graph.constant(bound, np.array(getattr(tree.actions, bound)))
        inside = graph.add(operator, [value, limit], f"inside_{bound}")
        value = graph.add("Where", [inside, value, limit], f"from_{bound}")
    graph.add("Cast", value, "action", to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))
    return dtype


def _slots(tree: CrispTree, leaves: list[int]) -> list[tuple[NDArray, NDArray]]:
    """The first terms of all sums, then the second ones, and so on: features and weights by leaf
    and dimension; a weight of 0 stands for no term."""
    shape = (len(leaves), tree.actions.n_values)
    sums = {
        (row, dimension): terms(tree, leaf, dimension)
        for row, leaf in enumerate(leaves)
        for dimension in range(tree.actions.n_values)
    }
    found = []
    for slot in range(max(map(len, sums.values()))):
        features, weights = np.zeros(shape, np.int64), np.zeros(shape)
        for place, added in sums.items():
            if slot < len(added):
                features[place], weights[place] = added[slot]
        found.append((features, weights))
    return found


def decider(model: bytes) -> Callable[[NDArray], NDArray]:
    """The model in onnxruntime."""
    session = _needed("onnxruntime").InferenceSession(model, providers=["CPUExecutionProvider"])
    return lambda states: session.run(["action"], {"observation": states})[0]


def _needed(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise CrisptreeError(
            f"ONNX export needs {module}; pip install 'crisptree[onnx]' brings it"
        ) from None
