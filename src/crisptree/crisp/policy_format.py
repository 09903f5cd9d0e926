"""The JSON object of a policy, by version. Version 2 is written; version 1 is read for ever.

    {"format": "crisptree.policy", "version": 2,
     "tree": {"feature": […], "threshold": […], "if_true": […], "if_false": […], "action": […]},
     "features": [{"name": …, "kind": …, …}, …],
     "actions": {"kind": "discrete" | "multi_discrete" | "box", "names": […], …},
     "feature_names": […], "action_names": […],
     "env_id": …, "env_kwargs": {…}, "feature_function": …, "training": {…}}

`action` of a leaf is a whole number, a list of whole numbers or a list of numbers; at an inner node
it is null. Where a leaf is linear the tree has `gains`, for each node a list of
`[dimension, feature, weight]`. Version 1 has whole numbers only, -1 at inner nodes, and no
`features`, `actions`, `env_kwargs` and `feature_function`.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import checks
from crisptree.crisp.linear import Gain, Gains
from crisptree.crisp.policy_file import brief, type_of
from crisptree.crisp.signature import Actions, Feature, Terms
from crisptree.crisp.signature_checks import ACTION_KINDS, FEATURE_KINDS

FORMAT = "crisptree.policy"
VERSION = 2

TREE_FIELDS = ("feature", "threshold", "if_true", "if_false", "action")
FIELDS = {
    1: ("format", "version", "tree", "feature_names", "action_names", "env_id", "training"),
    2: (
        "format",
        "version",
        "tree",
        "features",
        "actions",
        "feature_names",
        "action_names",
        "env_id",
        "training",
    ),
}
OPTIONAL = {1: (), 2: ("env_kwargs", "feature_function")}


def arguments(policy: object) -> dict[str, Any]:
    """What `CrispTree` is called with for the object in a policy file.

    Fields and the types that JSON gives them are checked here; what the values mean together
    (children in range, no cycles, …) is the tree's own check.
    """
    if not isinstance(policy, Mapping):
        raise CrisptreeError(f"a policy must be a JSON object; this is {type_of(policy)}")
    if policy.get("format") != FORMAT:
        raise CrisptreeError(f"format must be {FORMAT!r}; this is no policy file of crisptree")
    version = policy.get("version")
    if type(version) is not int or version not in FIELDS:
        raise CrisptreeError(f"version is {brief(version)}; this crisptree reads versions 1 and 2")
    where = f"no field of version {version}"
    _fields(policy, FIELDS[version], OPTIONAL[version], "", where)
    tree = _object("tree", policy["tree"])
    _fields(tree, TREE_FIELDS, ("gains",) if version > 1 else (), "tree.", where)
    if policy["env_id"] is not None:
        checks.text("env_id", policy["env_id"])
    found: dict[str, Any] = {
        "feature_names": checks.names("feature_names", policy["feature_names"]),
        "action_names": checks.names("action_names", policy["action_names"]),
        "env_id": policy["env_id"],
        "training": _object("training", policy["training"]),
        "threshold": np.array(_numbers("tree.threshold", tree["threshold"]), dtype=np.float64),
    }
    for name in ("feature", "if_true", "if_false"):
        numbers = np.array(_whole_numbers(f"tree.{name}", tree[name]), dtype=np.int64)
        found[name] = checks.whole_numbers(f"tree.{name}", numbers)
    if version == 1:
        found["action"] = np.array(_whole_numbers("tree.action", tree["action"]), dtype=np.int64)
        return found
    actions = _actions(policy["actions"])
    if policy.get("feature_function") is not None:
        checks.text("feature_function", policy["feature_function"])
    return found | {
        "action": _leaf_actions(tree["action"], found["feature"], actions),
        "actions": actions,
        "features": _features(policy["features"]),
        "gains": _gains(tree.get("gains", [])),
        "env_kwargs": _object("env_kwargs", policy.get("env_kwargs", {})),
        "feature_function": policy.get("feature_function"),
    }


def object_of(
    arrays: Mapping[str, Any], features: tuple[Feature, ...], actions: Actions, gains: Any
) -> dict[str, Any]:
    """The part of a policy file's object that says what the policy decides."""
    tree = {name: arrays[name].tolist() for name in TREE_FIELDS}
    pairs = zip(tree["feature"], tree["action"], strict=True)
    tree["action"] = [action if feature < 0 else None for feature, action in pairs]
    if any(gains):
        tree["gains"] = [[list(gain) for gain in of_node] for of_node in gains]
    return {
        "format": FORMAT,
        "version": VERSION,
        "tree": tree,
        "features": [_said(feature, ("name", "kind")) for feature in features],
        "actions": _said(actions, ("kind", "names", "dtype")),
        "feature_names": [feature.name for feature in features],
        "action_names": list(actions.names),
    }


def _said(value: Feature | Actions, always: tuple[str, ...]) -> dict[str, Any]:
    """A dataclass as an object without its empty fields."""
    found: dict[str, Any] = {}
    for field in fields(value):
        content = getattr(value, field.name)
        if field.name in always or content not in (None, ()):
            found[field.name] = _plain(content)
    return found


def _plain(content: Any) -> Any:
    return [_plain(each) for each in content] if isinstance(content, tuple) else content


def _features(values: object) -> tuple[Feature, ...]:
    found = []
    for at, value in enumerate(_list("features", values)):
        prefix = f"features[{at}]"
        given = _object(prefix, value)
        _fields(given, ("name",), ("kind", "low", "high", "categories", "terms"), f"{prefix}.")
        checks.text(f"{prefix}.name", given["name"])
        bounds = {
            side: checks.number(f"{prefix}.{side}", given[side])
            for side in ("low", "high")
            if given.get(side) is not None
        }
        categories: tuple[str, ...] = ()
        if given.get("categories"):
            categories = checks.names(f"{prefix}.categories", given["categories"])
        kind = _one_of(f"{prefix}.kind", given.get("kind", "number"), FEATURE_KINDS)
        terms = _terms(f"{prefix}.terms", given.get("terms", []))
        found.append(Feature(given["name"], kind, **bounds, categories=categories, terms=terms))
    if not found:
        raise CrisptreeError("features is empty; it must hold at least one feature")
    return tuple(found)


def _terms(field: str, values: object) -> Terms:
    """The terms of a derived feature; none of any other."""
    found = []
    for at, term in enumerate(_list(field, values)):
        if len(_numbers(f"{field}[{at}]", term)) != 2:
            raise CrisptreeError(f"{field}[{at}] must be [feature, weight]")
        found.append((*_whole_numbers(f"{field}[{at}]", term[:1]), float(term[1])))
    return tuple(found)


def _actions(values: object) -> Actions:
    given = _object("actions", values)
    optional = ("choices", "low", "high", "start", "dtype", "shape")
    _fields(given, ("kind", "names"), optional, "actions.")
    kind = _one_of("actions.kind", given["kind"], ACTION_KINDS)
    dtype = given.get("dtype", "float32" if kind == "box" else "int64")
    checks.text("actions.dtype", dtype)
    return Actions(
        kind=kind,
        names=checks.names("actions.names", given["names"]),
        choices=tuple(
            checks.names(f"actions.choices[{at}]", part)
            for at, part in enumerate(_list("actions.choices", given.get("choices", [])))
        ),
        low=tuple(map(float, _numbers("actions.low", given.get("low", [])))),
        high=tuple(map(float, _numbers("actions.high", given.get("high", [])))),
        start=tuple(_whole_numbers("actions.start", given.get("start", []))),
        dtype=dtype,
        shape=tuple(_whole_numbers("actions.shape", given.get("shape", []))),
    )


def _one_of(field: str, value: object, known: tuple[str, ...]) -> Any:
    if not isinstance(value, str) or value not in known:
        raise CrisptreeError(f"{field} is {brief(value)}; it must be {', '.join(known)}")
    return value


def _gains(values: object) -> Gains:
    """The gains of each node; the tree checks what they mean."""
    found = []
    for node, of_node in enumerate(_list("tree.gains", values)):
        field = f"tree.gains[{node}]"
        gains = []
        for at, gain in enumerate(_list(field, of_node)):
            if len(_numbers(f"{field}[{at}]", gain)) != 3:
                raise CrisptreeError(f"{field}[{at}] must be [dimension, feature, weight]")
            dimension, feature = _whole_numbers(f"{field}[{at}]", gain[:2])
            gains.append(Gain(dimension, feature, float(gain[2])))
        found.append(tuple(gains))
    return tuple(found)


def _leaf_actions(values: object, feature: np.ndarray, actions: Actions) -> np.ndarray:
    """The array of actions; null becomes -1, or 0.0 among real vectors."""
    given = _list("tree.action", values)
    if actions.kind == "discrete":
        nothing: Any = -1
    else:
        nothing = [0.0 if actions.kind == "box" else -1] * len(actions.names)
    found = []
    for at, value in enumerate(given):
        field = f"tree.action[{at}]"
        if at >= len(feature) or feature[at] >= 0:
            if value is not None and at < len(feature):
                raise CrisptreeError(f"{field} is {brief(value)}; at an inner node it must be null")
            found.append(nothing)
        elif actions.kind == "discrete":
            found.append(_whole_numbers("tree.action", [value], at)[0])
        else:
            of_leaf = _numbers if actions.kind == "box" else _whole_numbers
            if len(of_leaf(field, value)) != len(actions.names):
                raise CrisptreeError(
                    f"{field} has {len(value)} values; a leaf has {len(actions.names)}"
                )
            found.append(value)
    dtype = np.float64 if actions.kind == "box" else np.int64
    shape = (len(found),) if actions.kind == "discrete" else (len(found), len(actions.names))
    return np.array(found, dtype=dtype).reshape(shape)


def _object(field: str, value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise CrisptreeError(f"{field} must be an object; it is {type_of(value)}")
    return value


def _list(field: str, value: object) -> list[Any]:
    if not isinstance(value, list):
        raise CrisptreeError(f"{field} must be a list; it is {type_of(value)}")
    return value


def _fields(
    found: Mapping[str, Any],
    wanted: tuple[str, ...],
    optional: tuple[str, ...],
    prefix: str,
    otherwise: str = "no field",
) -> None:
    for name in wanted:
        if name not in found:
            raise CrisptreeError(f"{prefix}{name} is missing")
    for name in found:
        if name not in wanted and name not in optional:
            raise CrisptreeError(f"{prefix}{brief(name)} is {otherwise}")


def _whole_numbers(field: str, values: object, first: int = 0) -> list[int]:
    return _of_types(field, values, (int,), "whole numbers", first)


def _numbers(field: str, values: object) -> list[int | float]:
    return _of_types(field, values, (int, float), "numbers", 0)


def _of_types(
    field: str, values: object, types: tuple[type, ...], what: str, first: int
) -> list[Any]:
    if not isinstance(values, list):
        raise CrisptreeError(f"{field} must be a list of {what}; it is {type_of(values)}")
    for at, value in enumerate(values, first):
        if type(value) not in types:  # not isinstance: true is no number here
            raise CrisptreeError(f"{field}[{at}] is {brief(value)}; {field} must hold {what} only")
        if type(value) is int and abs(value) > 2**63 - 1:
            raise CrisptreeError(f"{field}[{at}] is a whole number beyond 64 bits")
    return values
