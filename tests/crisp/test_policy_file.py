import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tree_strategies import BOX, EVERY_KIND, NESTED, one_of_every_cell, tree_of, tree_with

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree, Feature, policy_file, policy_format

POLICIES = Path(__file__).parents[2] / "policies"

TREE = CrispTree.from_nested(
    ("pole angle", 0.1, "push right", ("θ̇", -1e-300, "push left", "push right")),
    ("pole angle", "θ̇"),
    ("push left", "push right"),
    env_id="CartPole-v1",
    training={"seed": 0, "returns": [500.0, 499.5], "command": {"leaves": 3}},
)

TEXT = """\
{
  "format": "crisptree.policy",
  "version": 2,
  "tree": {
    "feature": [0, -1, 1, -1, -1],
    "threshold": [0.1, 0.0, -1e-300, 0.0, 0.0],
    "if_true": [1, -1, 3, -1, -1],
    "if_false": [2, -1, 4, -1, -1],
    "action": [null, 1, null, 0, 1]
  },
  "features": [
    {"name": "pole angle", "kind": "number"},
    {"name": "θ̇", "kind": "number"}
  ],
  "actions": {
    "kind": "discrete",
    "names": ["push left", "push right"],
    "dtype": "int64"
  },
  "feature_names": ["pole angle", "θ̇"],
  "action_names": ["push left", "push right"],
  "env_id": "CartPole-v1",
  "env_kwargs": {},
  "feature_function": null,
  "training": {
    "seed": 0,
    "returns": [500.0, 499.5],
    "command": {
      "leaves": 3
    }
  }
}
"""

VERSION_1 = """\
{
  "format": "crisptree.policy",
  "version": 1,
  "tree": {
    "feature": [0, -1, 1, -1, -1],
    "threshold": [0.1, 0.0, -1e-300, 0.0, 0.0],
    "if_true": [1, -1, 3, -1, -1],
    "if_false": [2, -1, 4, -1, -1],
    "action": [-1, 1, -1, 0, 1]
  },
  "feature_names": ["pole angle", "θ̇"],
  "action_names": ["push left", "push right"],
  "env_id": "CartPole-v1",
  "training": {
    "seed": 0,
    "returns": [500.0, 499.5],
    "command": {
      "leaves": 3
    }
  }
}
"""


def test_the_file_is_as_readable_as_this(tmp_path):
    TREE.save(tmp_path / "policy.json")
    assert (tmp_path / "policy.json").read_text(encoding="utf-8") == TEXT


def test_what_is_read_is_what_was_written(tmp_path):
    path = tmp_path / "policy.json"
    path.write_text(TEXT, encoding="utf-8")
    assert CrispTree.load(path).to_dict() == TREE.to_dict()


def test_version_1_is_read_for_ever(tmp_path):
    path = tmp_path / "policy.json"
    path.write_text(VERSION_1, encoding="utf-8")
    assert CrispTree.load(path) == TREE


@pytest.mark.parametrize("path", sorted(POLICIES.glob("*.json")), ids=lambda path: path.name)
def test_every_policy_that_is_shipped_loads(path):
    tree = CrispTree.load(path)
    assert (tree.n_leaves > 1 or any(tree.gains)) and tree.env_id
    assert CrispTree.from_dict(tree.to_dict()) == tree


LINEAR = CrispTree.from_nested(
    ("lit", 0.5, {"torque": (1.25, {"gear": -3.5}), "brake": 0.0}, [-2.0, 1.0]),
    features=(Feature("lit", "flag"), Feature("gear", "category", 1.0, 2.0, ("low", "high"))),
    actions=BOX,
    env_id="Cart-v0",
    env_kwargs={"wind": 0.5},
    feature_function="mine.features:of",
)
LINEAR_TEXT = """\
{
  "format": "crisptree.policy",
  "version": 2,
  "tree": {
    "feature": [0, -1, -1],
    "threshold": [0.5, 0.0, 0.0],
    "if_true": [1, -1, -1],
    "if_false": [2, -1, -1],
    "action": [null, [1.25, 0.0], [-2.0, 1.0]],
    "gains": [[], [[0, 1, -3.5]], []]
  },
  "features": [
    {"name": "lit", "kind": "flag"},
    {"name": "gear", "kind": "category", "low": 1.0, "high": 2.0, "categories": ["low", "high"]}
  ],
  "actions": {
    "kind": "box",
    "names": ["torque", "brake"],
    "low": [-2.0, 0.0],
    "high": [2.0, 1.0],
    "dtype": "float32"
  },
  "feature_names": ["lit", "gear"],
  "action_names": ["torque", "brake"],
  "env_id": "Cart-v0",
  "env_kwargs": {
    "wind": 0.5
  },
  "feature_function": "mine.features:of",
  "training": {}
}
"""


def test_a_policy_with_linear_leaves(tmp_path):
    path = tmp_path / "policy.json"
    LINEAR.save(path)
    assert path.read_text() == LINEAR_TEXT
    assert CrispTree.load(path) == LINEAR


@given(EVERY_KIND)
def test_every_kind_of_leaf_comes_back(written):
    tree = tree_with(*written)
    assert CrispTree.from_dict(json.loads(json.dumps(tree.to_dict()))) == tree


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[null, [", "[0, [", r"tree.action\[0\] is 0; at an inner node it must be null"),
        ("[1.25, 0.0]", "null", r"tree.action\[1\] must be a list of numbers; it is null"),
        ("[1.25, 0.0]", "[1.25]", r"tree.action\[1\] has 1 values; a leaf has 2"),
        ("[1.25, 0.0]", "[1.25, true]", r"tree.action\[1\]\[1\] is true"),
        ("[1.25, 0.0]", "[1.25, 1e999]", r"tree.action\[1\]\[1\] is inf"),
        ("[1.25, 0.0]", "[1.25, 1.5]", r"tree.action\[1\]\[1\] is 1.5; dimension 1 lies in"),
        ("[[], [[", "[[[0, 0, 1]], [[", r"tree.gains\[0\] is not empty"),
        ("[0, 1, -3.5]", "[0, 1]", r"tree.gains\[1\]\[0\] must be \[dimension, feature, weight"),
        ("[0, 1, -3.5]", "[0, 2, -3.5]", r"tree.gains\[1\]\[0\]\[1\] is 2; the features are"),
        ("[0, 1, -3.5]", "[0, 0.5, 1]", r"tree.gains\[1\]\[0\]\[1\] is 0.5"),
        ("[0, 1, -3.5]", "[0, 1, NaN]", r"tree.gains\[1\]\[0\]\[2\] is nan"),
        ("[0, 1, -3.5]", '"x"', r"tree.gains\[1\]\[0\] must be a list"),
        ('"kind": "flag"', '"kind": "bit"', r'features\[0\].kind is "bit"; it must be number'),
        ('"name": "lit"', '"nam": "lit"', r"features\[0\].name is missing"),
        ('"kind": "flag"', '"unit": "m"', r'features\[0\]."unit" is no field'),
        ('"low": 1.0', '"low": "x"', r"features\[1\].low must be a number; it is str"),
        ('"kind": "box"', '"kind": []', r"actions.kind is \[\]; it must be discrete"),
        ('"kind": "box"', '"kind": "discrete"', r"tree.action\[1\] is \[1.25, 0.0\]"),
        ("[-2.0, 0.0],", "[2.0, 0.0],", r"actions.low\[0\] is 2.0; it must be below 2.0"),
        ("[-2.0, 0.0],", "[-1e999, 0.0],", r"actions.low\[0\] is -inf"),
        ('"float32"', '"object"', r"actions.dtype is 'object'"),
        ('"float32"', "7", r"actions.dtype must be text"),
        ('"feature_names": ["lit"', '"feature_names": ["on"', "feature_names and the names in"),
        ('"action_names": ["torque"', '"action_names": ["on"', "action_names and the names in"),
        ('"mine.features:of"', '"rm -rf"', r"feature_function is 'rm -rf'; it must be module:name"),
        ('"mine.features:of"', "[]", r"feature_function must be text"),
        ('{\n    "wind": 0.5\n  }', "null", r"env_kwargs must be an object; it is null"),
    ],
)
def test_an_edited_file_of_version_2(tmp_path, old, new, message):
    assert old in LINEAR_TEXT
    path = tmp_path / "policy.json"
    path.write_text(LINEAR_TEXT.replace(old, new, 1))
    with pytest.raises(CrisptreeError, match=rf"policy\.json: {message}") as error:
        CrispTree.load(path)
    assert "\n" not in str(error.value)


@given(NESTED)
def test_saving_and_loading_give_the_same_bytes_and_actions(tmp_path_factory, nested):
    path = tmp_path_factory.getbasetemp() / "policy.json"
    tree = tree_of(nested)
    tree.save(path)
    first = path.read_bytes()
    loaded = CrispTree.load(path)
    loaded.save(path)
    assert path.read_bytes() == first
    assert loaded.threshold.tolist() == tree.threshold.tolist()
    cells = one_of_every_cell(tree)
    assert loaded.predict(cells)[0].tolist() == tree.predict(cells)[0].tolist()


def test_saving_over_a_policy_that_cannot_be_saved_loses_nothing(tmp_path, monkeypatch):
    path = tmp_path / "policy.json"
    TREE.save(path)
    tree = replace(TREE, training={})
    tree.training["bad"] = float("nan")  # type: ignore[index]
    with pytest.raises(CrisptreeError, match=r"training\.bad is nan"):
        tree.save(path)
    assert path.read_text(encoding="utf-8") == TEXT


def changed(path: str, value: object, tree: CrispTree = TREE) -> dict:
    """The policy with the field at `path` set to `value`."""
    policy = tree.to_dict()
    *outer, last = path.split(".")
    within = policy
    for name in outer:
        within = within[name]
    within[last] = value
    return policy


def without(path: str) -> dict:
    policy = changed(path, None)
    within = policy["tree"] if path.startswith("tree.") else policy
    del within[path.removeprefix("tree.")]
    return policy


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ([], "a policy must be a JSON object; this is a list"),
        ("text", "a policy must be a JSON object; this is text"),
        ({}, "format must be 'crisptree.policy'"),
        (changed("format", "onnx"), "format must be 'crisptree.policy'"),
        (without("version"), "version is null; this crisptree reads versions 1 and 2"),
        (changed("version", 3), "version is 3; this crisptree reads versions 1 and 2"),
        (changed("version", True), "version is true; this crisptree reads versions 1 and 2"),
        (changed("version", 2.0), "version is 2.0; this crisptree reads versions 1 and 2"),
        (without("tree"), "tree is missing"),
        (without("tree.if_true"), "tree.if_true is missing"),
        (without("env_id"), "env_id is missing"),
        (without("training"), "training is missing"),
        (changed("notes", 1), '"notes" is no field of version 2'),
        (changed("tree.value", [1]), 'tree."value" is no field of version 2'),
        (changed("tree", [1]), "tree must be an object; it is a list"),
        (changed("tree.feature", {}), "tree.feature must be a list of whole numbers; it is an obj"),
        (changed("tree.feature", [0, -1, True, -1, -1]), r"tree.feature\[2\] is true; .*whole"),
        (changed("tree.feature", [0, -1, 1.0, -1, -1]), r"tree.feature\[2\] is 1.0; .*whole"),
        (changed("tree.feature", [0, -1, "1", -1, -1]), r'tree.feature\[2\] is "1"; .*whole'),
        (changed("tree.feature", [0, -1, None, -1, -1]), r"tree.feature\[2\] is null; .*whole"),
        (changed("tree.feature", [10**30] * 5), r"tree.feature\[0\] is a whole number beyond 64"),
        (changed("tree.feature", [2**40] * 5), r"tree.feature\[0\] is 1099511627776"),
        (changed("tree.feature", []), r"tree.feature is empty"),
        (changed("tree.threshold", [0.1, 0, np.nan, 0, 0]), r"tree.threshold\[2\] is nan"),
        (changed("tree.threshold", [0.1, 0, np.inf, 0, 0]), r"tree.threshold\[2\] is inf"),
        (changed("tree.threshold", [0.1, 0, False, 0, 0]), r"tree.threshold\[2\] is false"),
        (changed("tree.threshold", [10**400] * 5), r"tree.threshold\[0\] is a whole number"),
        (changed("tree.if_false", [2, -1, 9, -1, -1]), r"tree.if_false\[2\] is 9; the nodes are"),
        (changed("tree.if_false", [2, -1, 0, -1, -1]), r"tree.if_false\[2\] is 0, .*no cycles"),
        (changed("tree.action", [None, 1, None, 0, 2]), r"tree.action\[4\] is 2"),
        (changed("feature_names", ["a", "a"]), r"feature_names\[1\] repeats 'a'"),
        (changed("feature_names", "ab"), r"feature_names must be a list of names"),
        (changed("action_names", ["a", 1]), r"action_names\[1\] must be text"),
        (changed("env_id", 1), r"env_id must be text; it is int"),
        (changed("training", None), r"training must be an object; it is null"),
        (changed("training", {"a": [np.nan]}), r"training.a\[0\] is nan"),
    ],
)
def test_an_edited_policy_names_the_field(tmp_path, policy, message):
    with pytest.raises(CrisptreeError, match=message):
        CrispTree.from_dict(policy)
    path = tmp_path / "policy.json"
    path.write_text(json.dumps(policy), encoding="utf-8")
    with pytest.raises(CrisptreeError, match=rf"policy\.json: {message}") as error:
        CrispTree.load(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"at line 1, column 1 it stops being JSON"),
        (TEXT.encode()[:200], r"at line 8, column \d+ it stops being JSON"),
        (TEXT.encode() + b"}", r"it stops being JSON \(Extra data\)"),
        (b"\x80\x04\x95pickle", "it is not UTF-8 text"),
        (b"[" * 1_000_000, "it is nested too deep"),
        (b'{"a": ' * 1_000_000, "it is nested too deep"),
        (b"[" + b"9" * 100_000 + b"]", "it holds a number too long"),
        (TEXT.encode().replace(b'"version": 2,', b'"version": 2, "version": 2,'), '"version" app'),
        (TEXT.encode().replace(b"-1e-300", b"NaN"), r"tree.threshold\[2\] is nan"),
        (TEXT.encode().replace(b"-1e-300", b"-1e999"), r"tree.threshold\[2\] is -inf"),
        (b" " * (policy_file.LARGEST_FILE + 1), "is larger than 16 MiB"),
    ],
)
def test_what_is_no_policy_file(tmp_path, content, message):
    path = tmp_path / "policy.json"
    path.write_bytes(content)
    with pytest.raises(CrisptreeError, match=rf"policy\.json.*{message}") as error:
        CrispTree.load(path)
    assert "\n" not in str(error.value)


def test_a_byte_order_mark_does_no_harm(tmp_path):
    path = tmp_path / "policy.json"
    path.write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    assert CrispTree.load(path).to_dict() == TREE.to_dict()


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(CrisptreeError, match=r"is a directory without a policy\.json"):
        CrispTree.load(tmp_path)
    for path in (tmp_path / "none.json", "a\0b"):
        with pytest.raises(CrisptreeError, match="cannot read"):
            CrispTree.load(path)


@given(
    st.sampled_from([TEXT, LINEAR_TEXT, VERSION_1]),
    st.integers(0, len(TEXT.encode()) - 1),
    st.integers(0, 40),
    st.sampled_from([b"", b"-1", b"0", b"9", b"1e999", b"true", b"NaN", b'"', b"[", b"]", b"{}"])
    | st.binary(max_size=4),
)
@example(TEXT, 0, len(TEXT.encode()), b"")
def test_a_damaged_file_is_a_policy_or_a_clear_error(tmp_path_factory, text, at, length, new):
    path = tmp_path_factory.getbasetemp() / "damaged.json"
    content = text.encode()
    path.write_bytes(content[:at] + new + content[at + length :])
    try:
        tree = CrispTree.load(path)
    except CrisptreeError as error:
        assert str(error).startswith(str(path))
        assert "\n" not in str(error)
    else:
        tree.predict(np.zeros(tree.n_features))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
FIELDS = [*TREE.to_dict()]
FIELDS += [f"tree.{name}" for name in (*policy_format.TREE_FIELDS, "gains")]
FIELDS += [f"actions.{name}" for name in ("kind", "names", "low", "dtype", "shape", "start")]


@given(
    st.sampled_from([TREE, LINEAR]),
    st.sampled_from(FIELDS),
    JSON | st.lists(st.integers(-2, 6), min_size=5, max_size=5),
)
def test_any_value_in_any_field_is_a_policy_or_a_clear_error(policy, field, value):
    try:
        tree = CrispTree.from_dict(changed(field, value, policy))
    except CrisptreeError as error:
        assert field.split(".")[0] in str(error)
    else:
        tree.predict(np.zeros(tree.n_features))
