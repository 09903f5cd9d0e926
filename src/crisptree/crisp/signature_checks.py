"""What makes features and actions right; every message names the field at fault."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.crisp.checks import names, number, text
from crisptree.crisp.derived import n_observed
from crisptree.crisp.signature import ActionKind, Actions, Feature, FeatureKind, Terms

FEATURE_KINDS: tuple[str, ...] = get_args(FeatureKind)
ACTION_KINDS: tuple[str, ...] = get_args(ActionKind)


def features(given: object, feature_names: object) -> tuple[Feature, ...]:
    """The features given, or plain numbers of those names.

    Features that say no more than their names follow `feature_names`, so that a copy of a tree
    with other names needs to be given these only.
    """
    if not given:
        return tuple(map(Feature, names("feature_names", feature_names)))
    if not isinstance(given, Sequence) or not all(isinstance(each, Feature) for each in given):
        raise CrisptreeError("features must be a list of features")
    own = names("features", [each.name for each in given])
    if not feature_names or own == tuple(feature_names):  # type: ignore[arg-type]
        checked = tuple(_feature(f"features[{at}]", each) for at, each in enumerate(given))
        return _with_terms(checked)
    wanted = names("feature_names", feature_names)
    if all(each == Feature(each.name) for each in given):
        return tuple(map(Feature, wanted))
    raise CrisptreeError(
        f"feature_names and the names in features differ; they are {', '.join(wanted)!r:.60} "
        f"and {', '.join(own)!r:.60}"
    )


def _feature(field: str, feature: Feature) -> Feature:
    if feature.kind not in FEATURE_KINDS:
        raise CrisptreeError(
            f"{field}.kind is {feature.kind!r:.40}; it must be {', '.join(FEATURE_KINDS)}"
        )
    low = _bound(f"{field}.low", feature.low, -math.inf)
    high = _bound(f"{field}.high", feature.high, math.inf)
    if low is not None and high is not None and low > high:
        raise CrisptreeError(f"{field}.low is {low}, above {field}.high, {high}")
    categories = tuple(feature.categories)
    if categories:
        if feature.kind != "category":
            raise CrisptreeError(f"{field}.categories is for a category; this is a {feature.kind}")
        names(f"{field}.categories", categories)
        if low is not None and high is not None and len(categories) != high - low + 1:
            raise CrisptreeError(
                f"{field}.categories has {len(categories)} names for the values "
                f"{low:g} … {high:g}; each value needs one"
            )
    return replace(feature, low=low, high=high, categories=categories)


def _with_terms(found: tuple[Feature, ...]) -> tuple[Feature, ...]:
    """The features, if the derived ones stand last and sum what an observation has."""
    observed = n_observed(found)
    if not observed:
        raise CrisptreeError("features holds derived ones only; a sum needs something to sum")
    return tuple(
        replace(each, terms=_terms(f"features[{at}]", each, at, observed)) if each.terms else each
        for at, each in enumerate(found)
    )


def _terms(field: str, feature: Feature, at: int, observed: int) -> Terms:
    if at < observed:
        raise CrisptreeError(f"{field} is derived; it must stand behind all that are observed")
    if feature.kind != "number":
        raise CrisptreeError(f"{field}.kind is {feature.kind}; a derived feature is a number")
    found = []
    for place, term in enumerate(feature.terms):
        if not isinstance(term, Sequence) or len(term) != 2 or not _is_whole(term[0]):
            raise CrisptreeError(f"{field}.terms[{place}] must be [feature, weight]")
        if not 0 <= term[0] < observed:
            raise CrisptreeError(
                f"{field}.terms[{place}][0] is {term[0]}; an observation has the features "
                f"0 … {observed - 1}"
            )
        weight = number(f"{field}.terms[{place}][1]", term[1])
        if weight == 0:
            raise CrisptreeError(f"{field}.terms[{place}][1] is 0; such a term adds nothing")
        found.append((int(term[0]), weight))
    if len({summed for summed, _ in found}) < len(found):
        raise CrisptreeError(f"{field}.terms sums a feature twice; each belongs there once")
    return tuple(found)


def _bound(field: str, value: float | None, none: float) -> float | None:
    """The bound of a feature; an infinite one is none."""
    return None if value is None or value == none else number(field, value)


def actions(given: object, action_names: object) -> Actions:
    """The actions given, or one of those names.

    Discrete actions that say no more than their names follow `action_names`, as features do.
    """
    if given is None:
        return Actions.discrete(names("action_names", action_names))
    if not isinstance(given, Actions):
        raise CrisptreeError(f"actions must be Actions; it is {type(given).__name__}")
    checked = _actions(given)
    if not action_names or checked.names == tuple(action_names):  # type: ignore[arg-type]
        return checked
    wanted = names("action_names", action_names)
    if checked == Actions.discrete(checked.names):
        return Actions.discrete(wanted)
    raise CrisptreeError(
        f"action_names and the names in actions differ; they are {', '.join(wanted)!r:.60} "
        f"and {', '.join(checked.names)!r:.60}"
    )


def _actions(given: Actions) -> Actions:
    if given.kind not in ACTION_KINDS:
        raise CrisptreeError(
            f"actions.kind is {given.kind!r:.40}; it must be {', '.join(ACTION_KINDS)}"
        )
    checked = replace(
        given,
        names=names("actions.names", given.names),
        choices=_choices(given),
        start=_start(given),
        shape=_shape(given),
    )
    _dtype(checked)
    if given.kind != "box":
        for field in ("low", "high"):
            if getattr(given, field):
                raise CrisptreeError(f"actions.{field} is for box actions; these are {given.kind}")
        return checked
    return _bounded(checked)


def _choices(given: Actions) -> tuple[tuple[str, ...], ...]:
    if given.kind != "multi_discrete":
        if given.choices:
            raise CrisptreeError(
                f"actions.choices is for multi_discrete actions; these are {given.kind}"
            )
        return ()
    if not isinstance(given.choices, Sequence) or len(given.choices) != len(given.names):
        raise CrisptreeError("actions.choices must hold the names of each part's choices")
    return tuple(
        names(f"actions.choices[{at}]", choices) for at, choices in enumerate(given.choices)
    )


def _start(given: Actions) -> tuple[int, ...]:
    """Where the environment begins to count; empty where it is 0 everywhere."""
    start = given.start
    if not isinstance(start, Sequence) or not all(_is_whole(each) for each in start):
        raise CrisptreeError("actions.start must be a list of whole numbers")
    if not any(start):
        return ()
    if given.kind == "box":
        raise CrisptreeError("actions.start is for choices; box actions have none")
    if len(start) != given.n_values:
        raise CrisptreeError(f"actions.start has {len(start)} numbers; it needs {given.n_values}")
    return tuple(map(int, start))


def _shape(given: Actions) -> tuple[int, ...]:
    """The shape of the environment's action; empty where it is flat."""
    shape = given.shape
    if not isinstance(shape, Sequence) or not all(_is_whole(each) and each > 0 for each in shape):
        raise CrisptreeError("actions.shape must be a list of whole numbers above 0")
    if not shape or (given.kind != "discrete" and tuple(shape) == (len(given.names),)):
        return ()
    if given.kind == "discrete":
        raise CrisptreeError("actions.shape is for vectors; a discrete action is one number")
    if math.prod(shape) != len(given.names):
        raise CrisptreeError(
            f"actions.shape is {tuple(shape)} and actions.names has {len(given.names)} names; "
            "each number of the action needs one"
        )
    return tuple(map(int, shape))


def _dtype(given: Actions) -> None:
    """Refuse a type that NumPy does not have, or that cannot hold the actions."""
    text("actions.dtype", given.dtype)
    wanted = "f" if given.kind == "box" else "iu"
    try:
        dtype = np.dtype(given.dtype)
    except (TypeError, ValueError, SyntaxError):
        dtype = None
    if dtype is None or dtype.kind not in wanted or dtype.name != given.dtype:
        what = "float32 or float64" if given.kind == "box" else "int64 or another integer type"
        raise CrisptreeError(f"actions.dtype is {given.dtype!r:.40}; it must be {what}")
    if given.kind != "box":
        sizes = [len(given.names)] if given.kind == "discrete" else map(len, given.choices)
        start = given.start or (0,) * given.n_values
        for first, size in zip(start, sizes, strict=True):
            if first < np.iinfo(dtype).min or first + size - 1 > np.iinfo(dtype).max:
                raise CrisptreeError(
                    f"actions.dtype is {given.dtype}, which cannot hold {first} … "
                    f"{first + size - 1}"
                )


def _bounded(given: Actions) -> Actions:
    bounds = {}
    for field in ("low", "high"):
        values = getattr(given, field)
        if not isinstance(values, Sequence) or len(values) != len(given.names):
            raise CrisptreeError(
                f"actions.{field} must hold a number for each dimension, {len(given.names)} here"
            )
        bounds[field] = tuple(
            number(f"actions.{field}[{at}]", value) for at, value in enumerate(values)
        )
    for at, (low, high) in enumerate(zip(bounds["low"], bounds["high"], strict=True)):
        if not low < high:
            raise CrisptreeError(f"actions.low[{at}] is {low}; it must be below {high}")
        with np.errstate(over="ignore"):
            if not np.isfinite(np.array([low, high], given.dtype)).all():
                raise CrisptreeError(
                    f"actions.low[{at}] … actions.high[{at}], {low} … {high}, are beyond "
                    f"{given.dtype}"
                )
    return replace(given, **bounds)


def _is_whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
