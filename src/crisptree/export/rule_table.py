"""A tree as a table of its rules: CSV for programs and spreadsheets, Markdown for documents.

Exactly one rule holds for an observation, so that the order of the rows has no meaning. Numbers
have the digits that give back the same float64. "At most" means "not above": it holds for NaN.
"""

import csv
import io
import math
from typing import NamedTuple

from crisptree.base.text import printable
from crisptree.crisp import Condition, CrispTree
from crisptree.export.about import about
from crisptree.export.leaves import in_words, linear_dimensions, outputs
from crisptree.export.vectors import cell


class RuleTable(NamedTuple):
    """A table, and the tree whose names it uses."""

    text: str
    tree: CrispTree


def as_rules_csv(tree: CrispTree) -> RuleTable:
    """One row per rule: the bounds of each feature, then the action. A linear leaf has its constant
    there, and the weights of features in columns `… per feature`."""
    used, pairs = used_features(tree), gain_pairs(tree)
    features, actions = tree.feature_names, tree.action_names
    given = outputs(tree)
    file = io.StringIO()
    table = csv.writer(file, lineterminator="\n")
    sides = [f"{features[at]} {side}" for at in used for side in ("above", "at most")]
    results = ("action",) if tree.actions.kind == "discrete" else actions
    weights = [f"{actions[dimension]} per {features[feature]}" for dimension, feature in pairs]
    table.writerow(map(cell, ["rule", *sides, *results, *weights, "in words"]))
    for at, leaf in enumerate(tree.leaves()):
        bounds = [leaf.conditions.get(feature, Condition(feature)) for feature in used]
        own = {(gain.dimension, gain.feature): repr(gain.weight) for gain in tree.gains[leaf.node]}
        table.writerow(
            [
                at + 1,
                *(_bound(side) for _, above, at_most in bounds for side in (above, at_most)),
                *map(repr, given[leaf.node]),
                *(own.get(pair, "") for pair in pairs),
                cell(in_words(tree, leaf.node)),
            ]
        )
    return RuleTable(file.getvalue(), tree)


def used_features(tree: CrispTree) -> list[int]:
    """The features that rules have conditions on."""
    return sorted({*tree.feature[tree.feature >= 0].tolist()})


def gain_pairs(tree: CrispTree) -> list[tuple[int, int]]:
    """`(dimension, feature)` of all gains of all leaves."""
    return sorted({(gain.dimension, gain.feature) for gains in tree.gains for gain in gains})


def _bound(value: float) -> str:
    return "" if math.isinf(value) else repr(value)


def as_rules_markdown(tree: CrispTree) -> RuleTable:
    """A heading, and one row per rule: its conditions and its action in words."""
    title, *rest = about(tree)
    lines = [f"# {escaped(title.rstrip('.'))}", "", *map(escaped, rest)]
    for dimension in linear_dimensions(tree):
        low, high = tree.actions.low[dimension], tree.actions.high[dimension]
        name = escaped(tree.action_names[dimension])
        lines += ["", f"{name} is brought into {low!r} … {high!r}."]
    for feature in tree.features[tree.n_features :]:
        sum_ = " + ".join(f"{w!r} · {escaped(tree.feature_names[f])}" for f, w in feature.terms)
        lines += ["", f"{escaped(feature.name)} is {sum_}."]
    lines += ["", "| rule | if | then |", "|--:|---|---|"]
    for at, leaf in enumerate(tree.leaves()):
        conditions = " and ".join(
            condition_in_words(tree, condition) for condition in leaf.conditions.values()
        )
        action = escaped(in_words(tree, leaf.node))
        lines.append(f"| {at + 1} | {conditions or 'always'} | {action} |")
    return RuleTable("\n".join(lines) + "\n", tree)


def condition_in_words(tree: CrispTree, condition: Condition) -> str:
    """`x > 1`, `x ≤ 2` or `1 < x ≤ 2`, with exact numbers."""
    name = escaped(tree.feature_names[condition.feature])
    at_most = "" if condition.at_most == math.inf else f" ≤ {condition.at_most!r}"
    if condition.above == -math.inf:
        return f"{name}{at_most}"
    if not at_most:
        return f"{name} > {condition.above!r}"
    return f"{condition.above!r} &lt; {name}{at_most}"


def escaped(name: str) -> str:
    """A name that Markdown shows as it is, within a table too."""
    text = printable(name).replace("&", "&amp;").replace("<", "&lt;")
    return "".join(f"\\{mark}" if mark in "\\`*_[]|#" else mark for mark in text)
