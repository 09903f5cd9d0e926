"""Decides by a table of rules as a reader of the file would, to check the file."""

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crisptree.export.rule_table import RuleTable, escaped, gain_pairs, used_features

NUMBER = r"-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?)"


class Row(NamedTuple):
    """A rule as the table says it: bounds by feature, the action, and gains by dimension."""

    bounds: tuple[tuple[int, float, float], ...]
    action: tuple[int | float, ...]
    gains: tuple[tuple[int, int, float], ...]


def csv_decider(table: RuleTable) -> Callable[[NDArray], NDArray]:
    """What the rules in a CSV file say."""
    used, pairs = used_features(table.tree), gain_pairs(table.tree)
    rows = []
    for _, *cells in list(csv.reader(io.StringIO(table.text)))[1:]:
        bounds, rest = cells[: 2 * len(used)], cells[2 * len(used) :]
        action, weights = rest[: table.tree.actions.n_values], rest[table.tree.actions.n_values :]
        sides = zip(used, bounds[::2], bounds[1::2], strict=True)
        given = zip(pairs, weights, strict=False)
        rows.append(
            Row(
                tuple(
                    (at, float(low or -math.inf), float(high or math.inf))
                    for at, low, high in sides
                ),
                tuple(map(float, action)),
                tuple((*pair, float(weight)) for pair, weight in given if weight),
            )
        )
    return lambda states: _decided(table, rows, states)


def markdown_decider(table: RuleTable) -> Callable[[NDArray], NDArray]:
    """What the rules in a Markdown file say."""
    tree = table.tree
    features = [escaped(name) for name in tree.feature_names]
    feature = f"(?P<name>{_one_of(features)})"
    condition = re.compile(
        rf"(?:(?P<low>{NUMBER}) &lt; )?{feature}(?: > (?P<above>{NUMBER}))?"
        rf"(?: ≤ (?P<high>{NUMBER}))?(?: and |$)"
    )
    rows = []
    for line in table.text.splitlines():
        match = re.fullmatch(r"\| \d+ \| (.*) \| (.*) \|", line)
        if match:
            words = "" if match[1] == "always" else match[1]
            bounds = tuple(
                (
                    features.index(part["name"]),
                    float(part["low"] or part["above"] or -math.inf),
                    float(part["high"] or math.inf),
                )
                for part in _parts(condition, words)
            )
            rows.append(Row(bounds, *_action(table, features, match[2])))
    return lambda states: _decided(table, rows, states)


def _action(
    table: RuleTable, features: Sequence[str], words: str
) -> tuple[tuple[int | float, ...], tuple[tuple[int, int, float], ...]]:
    """A leaf read from its words."""
    tree = table.tree
    names = [escaped(name) for name in tree.action_names]
    start = tree.actions.start or (0,) * tree.actions.n_values
    if tree.actions.kind == "discrete":
        return (names.index(words) + start[0],), ()
    if tree.actions.kind == "multi_discrete":
        found, rest = [], words
        for name, choices, first in zip(names, tree.actions.choices, start, strict=True):
            options = [escaped(choice) for choice in choices]
            match = re.match(rf"{re.escape(name)}: ({_one_of(options)})(?:, |$)", rest)
            assert match is not None, words
            found.append(options.index(match[1]) + first)
            rest = rest[match.end() :]
        return tuple(found), ()
    constants, gains, rest = [], [], words
    term = rf" (?P<sign>[+-]) (?P<weight>{NUMBER}) \\\* (?P<name>{_one_of(features)})"
    for dimension, name in enumerate(names):
        plain = term.replace("?P<sign>", "").replace("?P<weight>", "").replace("?P<name>", "")
        match = re.match(rf"{re.escape(name)} = ({NUMBER})((?:{plain})*)(?:, |$)", rest)
        assert match is not None, words
        constants.append(float(match[1]))
        for part in _parts(re.compile(term), match[2]):
            weight = float(part["sign"] + part["weight"])
            gains.append((dimension, features.index(part["name"]), weight))
        rest = rest[match.end() :]
    return tuple(constants), tuple(gains)


def _one_of(names: Iterable[str]) -> str:
    """A pattern for any of the names, the longest first."""
    return "|".join(map(re.escape, sorted(names, key=len, reverse=True)))


def _parts(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    found, at = [], 0
    while at < len(text):
        match = pattern.match(text, at)
        assert match is not None, text
        found.append(match)
        at = match.end()
    return found


def _decided(table: RuleTable, rows: Sequence[Row], states: NDArray) -> NDArray:
    """The action of the one rule that holds, for each row; an error if none or several hold."""
    actions = table.tree.actions
    found = np.zeros((len(states), actions.n_values))
    holding, states = np.zeros(len(states), dtype=int), table.tree.columns(states)
    for row in rows:
        holds = np.ones(len(states), dtype=bool)
        for feature, above, at_most in row.bounds:
            column = states[:, feature].astype(np.float64)
            holds &= ((column > above) | (above == -math.inf)) & ~(column > at_most)
        here = np.flatnonzero(holds)
        holding[here] += 1
        found[here] = row.action
        with np.errstate(over="ignore", invalid="ignore"):
            for dimension, feature, weight in row.gains:
                found[here, dimension] += weight * states[here, feature].astype(np.float64)
    if (holding != 1).any():
        raise RuntimeError(f"{(holding != 1).sum()} observations meet no rule or several")
    if actions.kind == "box":
        found = np.where(found > actions.low, found, actions.low)
        return np.where(found < actions.high, found, actions.high)
    return found.astype(np.int64)
