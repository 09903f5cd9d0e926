"""Test vectors: observations that lead through both outcomes of every comparison.

For each node there are up to three observations that come to it and differ in its feature alone:
one float below the threshold, on it, and one float above. The last two get different answers from
this comparison, and lead to leaves that differ where that can be: the comparison alone decides,
which is what MC/DC asks for.
"""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from itertools import islice, product
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from crisptree.base.text import printable
from crisptree.crisp import Condition, CrispTree, Feature, Visit
from crisptree.crisp.rounding import next_float, not_above
from crisptree.export.derived_states import neighbours
from crisptree.export.expected import expected
from crisptree.export.leaves import observed_names

MOST_NUMBERS = 2**22
"""Most numbers that the vectors hold in all; a policy that needs more gets every n-th vector."""

MOST = 64
"""Most leaves on either side of a comparison that are searched for two that it alone tells
apart."""

T = TypeVar("T")


class Vector(NamedTuple):
    """An observation and what the policy gives for it, as the environment counts."""

    state: tuple[float, ...]
    action: tuple[int, ...] | tuple[float, ...]
    node: int
    """The node it was made for."""
    side: str
    """Where its feature lies: below the threshold, at it or above; empty for a lone leaf."""


def vectors(tree: CrispTree, dtype: Any) -> list[Vector]:
    """Observations in numbers of `dtype` for every node that such numbers can come to."""
    made = (
        _made(tree, dtype) if len(tree.features) == tree.n_features else [*neighbours(tree, dtype)]
    )
    if tree.n_nodes == 1:
        observed = tree.features[: tree.n_features]
        made.append((0, "", [_anywhere(feature, dtype) for feature in observed]))
    made = thinned(made, max(1, MOST_NUMBERS // tree.n_features))
    if not made:
        return []
    answers = expected(tree, np.array([state for _, _, state in made]))
    rows = answers.reshape(len(made), -1).tolist()
    return [
        Vector(tuple(state), tuple(action), node, side)
        for (node, side, state), action in zip(made, rows, strict=True)
    ]


def _made(tree: CrispTree, dtype: Any) -> list[tuple[int, str, list[float]]]:
    """A node's number, a side and an observation, for every node."""
    made: list[tuple[int, str, list[float]]] = []
    leaves = list(tree.leaves())
    places = {leaf.node: at for at, leaf in enumerate(leaves)}
    for visit in tree.walk():
        if not visit.is_leaf:
            first, middle, end = (
                _first_leaf(tree, visit.if_true, places),
                _first_leaf(tree, visit.if_false, places),
                _last_leaf(tree, visit.if_false, places) + 1,
            )
            sides = leaves[first:middle], leaves[middle:end]
            made += [(visit.node, *row) for row in _around(tree, visit, *sides, dtype)]
    return made


def as_csv(tree: CrispTree, found: Sequence[Vector]) -> str:
    """The vectors as a table: node, side, the features by name, the action."""
    discrete = tree.actions.kind == "discrete"
    actions = ("action",) if discrete else tree.action_names
    file = io.StringIO()
    table = csv.writer(file, lineterminator="\n")
    table.writerow(map(cell, ("node", "side", *observed_names(tree), *actions)))
    for vector in found:
        table.writerow((vector.node, vector.side, *map(repr, vector.state + vector.action)))
    return file.getvalue()


class Shown(NamedTuple):
    """Which questions of a tree its vectors show to decide on their own (MC/DC)."""

    shown: tuple[int, ...]
    """Nodes with two vectors that differ in the node's feature alone, by one float, and in the
    action."""
    not_shown: tuple[int, ...]
    """Nodes without such vectors: whatever they answer, the tree does the same."""

    @property
    def in_words(self) -> str:
        total = len(self.shown) + len(self.not_shown)
        rest = f"; not {', '.join(map(str, self.not_shown))}" if self.not_shown else ""
        return f"MC/DC: {len(self.shown)} of {total} questions decide alone{rest}"


def shown_by(tree: CrispTree, found: Sequence[Vector]) -> Shown:
    """What the vectors show of each question."""
    actions: dict[int, dict[str, Any]] = {}
    for vector in found:
        actions.setdefault(vector.node, {})[vector.side] = vector.action
    nodes = [visit.node for visit in tree.walk() if not visit.is_leaf]
    shown = {
        node
        for node, sides in actions.items()
        if "at" in sides and "above" in sides and sides["at"] != sides["above"]
    }
    return Shown(
        tuple(node for node in nodes if node in shown),
        tuple(node for node in nodes if node not in shown),
    )


def cell(name: str) -> str:
    """A name that no spreadsheet takes for a formula."""
    text = printable(name)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


def thinned(values: Sequence[T], most: int) -> list[T]:
    """At most `most` of them, evenly spaced."""
    return list(values[:: max(1, -(-len(values) // most))])


def _first_leaf(tree: CrispTree, node: int, places: Mapping[int, int]) -> int:
    while node not in places:
        node = tree.nodes[node][2]
    return places[node]


def _last_leaf(tree: CrispTree, node: int, places: Mapping[int, int]) -> int:
    while node not in places:
        node = tree.nodes[node][3]
    return places[node]


def _around(
    tree: CrispTree, visit: Visit, trues: list[Visit], falses: list[Visit], dtype: Any
) -> list[tuple[str, list[float]]]:
    """The observations below, at and above a node's threshold that reach it; none if none can."""
    if not visit.is_reachable:
        return []
    at = not_above(np.array([visit.threshold]), dtype)
    sides = {"below": next_float(at, -np.inf), "at": at, "above": next_float(at, np.inf)}
    known = visit.conditions.get(visit.feature, Condition(visit.feature))
    values = {side: float(value[0]) for side, value in sides.items()}
    values = {
        side: value
        for side, value in values.items()
        if math.isfinite(value) and known.above < value <= known.at_most
    }
    state = None
    if "at" in values and "above" in values:
        ups = islice((leaf for leaf in trues if _allows(leaf, visit, "above", values)), MOST)
        downs = islice((leaf for leaf in falses if _allows(leaf, visit, "at", values)), MOST)
        pairs = (pair for pair in product(ups, downs) if _differ(tree, *pair))
        tried = (_state(tree, (*pair, visit), visit.feature, dtype) for pair in pairs)
        state = next((state for state in tried if state is not None), None)
    state = state or _state(tree, (visit,), visit.feature, dtype)
    if state is None:
        return []
    return [
        (side, [*state[: visit.feature], value, *state[visit.feature + 1 :]])
        for side, value in values.items()
    ]


def _allows(leaf: Visit, visit: Visit, side: str, values: Mapping[str, float]) -> bool:
    """Whether some leaf below a node can be reached with that value of the node's feature."""
    _, above, at_most = leaf.conditions.get(visit.feature, Condition(visit.feature))
    return above < values[side] <= at_most


def _differ(tree: CrispTree, one: Visit, other: Visit) -> bool:
    return tree.leaf_at(one.node) != tree.leaf_at(other.node)


def _state(tree: CrispTree, visits: Sequence[Visit], but: int, dtype: Any) -> list[float] | None:
    """An observation that meets the conditions of all visits, but for one feature's."""
    together: dict[int, Condition] = {}
    for visit in visits:
        for feature, condition in visit.conditions.items():
            known = together.get(feature, Condition(feature))
            together[feature] = Condition(
                feature, max(known.above, condition.above), min(known.at_most, condition.at_most)
            )
    state = [_anywhere(feature, dtype) for feature in tree.features]
    for feature, condition in together.items():
        if feature != but:
            value = _inside(condition, tree.features[feature], dtype)
            if value is None:
                return None
            state[feature] = value
    return state


def _inside(condition: Condition, feature: Feature, dtype: Any) -> float | None:
    """A number of `dtype` that meets the condition, within the feature's bounds if it can be."""
    _, above, at_most = condition
    low = above if above > -math.inf else min(_or(feature.low, -math.inf), at_most)
    high = at_most if at_most < math.inf else max(_or(feature.high, math.inf), above)
    if low == -math.inf:
        low = high - max(1.0, abs(high))
    if high == math.inf:
        high = low + max(1.0, abs(low))
    edges = not_above(np.array([low / 2 + high / 2, at_most]), dtype)
    just_above = next_float(not_above(np.array([above]), dtype), np.inf)
    for value in (*edges.tolist(), *just_above.tolist()):
        if math.isfinite(value) and above < value <= at_most:
            return value
    return None


def _anywhere(feature: Feature, dtype: Any) -> float:
    """A number of `dtype` for a feature nobody looks at: 0, or what is nearest to it."""
    low, high = _or(feature.low, -math.inf), _or(feature.high, math.inf)
    return float(not_above(np.array([min(max(0.0, low), high)]), dtype)[0])


def _or(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value


def as_array(found: Sequence[Vector], dtype: Any) -> NDArray:
    """The observations alone, as rows."""
    return np.array([vector.state for vector in found], dtype)
