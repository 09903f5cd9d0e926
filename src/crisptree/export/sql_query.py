"""A tree as a SQL query: one CASE for each number of the action, over a table of observations.

It is plain SQL: SQLite, DuckDB and PostgreSQL read it. Some engines order NaN above all numbers,
others have NULL in its place; the query reads NaN as NULL, and a comparison with NULL as FALSE.
"""

import math
import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError
from crisptree.base.text import printable
from crisptree.crisp import CrispTree
from crisptree.export.about import about
from crisptree.export.branches import Chain, chain
from crisptree.export.leaves import asked_text, in_words, observed_names, outputs, sum_text, terms

TABLE = "observations"
LONG_DIVISOR = 2**52


class Query(NamedTuple):
    """A query, the columns it reads, by feature, and those it adds."""

    text: str
    columns: Mapping[int, str]
    results: tuple[str, ...]


def as_sql(tree: CrispTree) -> Query:
    """A query that adds the action to each row of the table `observations`."""
    literal = _literals()
    columns = column_names(observed_names(tree))
    x = _prefix(columns)
    used = sorted({*_in_comparisons(tree), *_in_formulas(tree)})
    results = column_names(
        ("action",) if tree.actions.kind == "discrete" else tree.action_names, taken=columns
    )
    lines = [
        *(f"-- {line}" for line in about(tree)),
        f"-- The table {TABLE} has a column of numbers for each feature.",
        "SELECT",
        "  features.*,",
    ]
    for at, name in enumerate(results):
        comma = "," if at + 1 < len(results) else ""
        lines += [*_number_of_action(tree, at, x, literal), f"  AS {quoted(name)}{comma}"]
    lines += ["FROM (", f"  SELECT {TABLE}.*"]
    for feature in used:
        name = quoted(columns[feature])
        # Below or at zero, or above it: true of every number, of neither NaN nor NULL.
        lines[-1] += ","
        lines.append(f"    CASE WHEN {name} <= 0 OR -{name} < 0 THEN {name} END AS {x}{feature}")
    text = "\n".join([*lines, f"  FROM {TABLE}", ") AS features", ""])
    return Query(text, {feature: columns[feature] for feature in used}, results)


def _in_comparisons(tree: CrispTree) -> set[int]:
    asked = {feature for feature, _, _, _ in tree.nodes if feature >= 0}
    sums = {feature for at in asked for feature, _ in tree.features[at].terms}
    return {feature for feature in asked if feature < tree.n_features} | sums


def _in_formulas(tree: CrispTree) -> set[int]:
    return {gain.feature for gains in tree.gains for gain in gains}


def _prefix(columns: Sequence[str]) -> str:
    """The prefix of the query's own columns, `x0`, `x1`, …, which no other column has."""
    x = "x"
    while any(re.fullmatch(rf"{x}\d+", name.lower()) for name in columns):
        x += "_"
    return x


def _number_of_action(
    tree: CrispTree, at: int, x: str, literal: Callable[[float], str]
) -> list[str]:
    """The whole tree as one expression, with one number of the action at the leaves."""
    given = outputs(tree)
    names = [printable(name) for name in tree.feature_names]

    def leaf(node: int) -> str:
        number = given[node][at]
        value = literal(number) if isinstance(number, float) else str(number)
        if terms(tree, node, at):
            value = sum_text(tree, node, at, literal, lambda feature: f"{x}{feature}")
            value = _within(value, literal(tree.actions.low[at]), literal(tree.actions.high[at]))
        return f"{value} /* {_comment(in_words(tree, node))} */"

    def asked(feature: int) -> str:
        text = asked_text(tree, feature, literal, lambda at: f"{x}{at}")
        return f"({text})" if tree.features[feature].terms else text

    def block(part: int | Chain, indent: str) -> list[str]:
        if isinstance(part, int) or not part.cases:
            return [indent + leaf(part if isinstance(part, int) else part.otherwise)]
        lines = [f"{indent}CASE"]
        for case in part.cases:
            feature, threshold, _, _ = tree.nodes[case.node]
            value, number = asked(feature), literal(threshold)
            not_above = f"{value} <= {number} OR {value} IS NULL"
            condition = f"{value} > {number}" if case.answer else not_above
            lines.append(f"{indent}  WHEN {condition} /* {_comment(names[feature])} */ THEN")
            lines += block(case.then, indent + "    ")
        return [*lines, f"{indent}  ELSE {leaf(part.otherwise)}", f"{indent}END"]

    return block(chain(tree), "  ")


def _within(value: str, low: str, high: str) -> str:
    """A sum brought into its bounds; NULL becomes the lower one."""
    inside = f"CASE WHEN {value} < {high} THEN {value} ELSE {high} END"
    return f"CASE WHEN {value} > {low} THEN {inside} ELSE {low} END"


def column_names(names: Sequence[str], taken: Sequence[str] = ()) -> tuple[str, ...]:
    """Names for columns: without control characters, no two alike where case does not count."""
    seen = {name.lower() for name in taken}
    found = []
    for name in names:
        wanted = given = printable(name)
        tries = 1
        while given.lower() in seen:
            tries += 1
            given = f"{wanted} {tries}"
        seen.add(given.lower())
        found.append(given)
    return tuple(found)


def quoted(name: str) -> str:
    """A column's name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def _comment(text: str) -> str:
    return text.replace("/*", "/ *").replace("*/", "* /")


def _literals() -> Callable[[float], str]:
    """A function that writes numbers as double-precision constants.

    Old versions of SQLite read about one number in 10,000 of many digits wrong in the last place;
    such a number is written as a quotient of two that every engine reads exactly.
    """
    engine = sqlite3.connect(":memory:")

    def literal(value: float) -> str:
        text = np.format_float_scientific(value, unique=True, trim="0", exp_digits=2)
        ((read,),) = engine.execute(f"SELECT {text}")
        return text if read == value else _quotient(value)

    return literal


def _quotient(value: float) -> str:
    """A fraction of whole numbers below 2**53, divided by powers of two."""
    numerator, denominator = abs(value).as_integer_ratio()
    if denominator == 1:
        return repr(value)
    shift = denominator.bit_length() - 1
    parts = [f"{numerator}e0" if value > 0 else f"-{numerator}e0"]
    while shift > 0:
        step = min(shift, LONG_DIVISOR.bit_length() - 1)
        parts.append(f"{2**step}e0")
        shift -= step
    return f"({' / '.join(parts)})"


def decider(query: Query) -> Callable[[NDArray], NDArray]:
    """The query in SQLite, on a table of the columns that it reads."""

    def decide(states: NDArray) -> NDArray:
        engine = sqlite3.connect(":memory:")
        (row,) = column_names(["row"], taken=[*query.columns.values(), *query.results])
        columns = [*map(quoted, (row, *query.columns.values()))]
        numbers = states[:, list(query.columns)].astype(np.float64)
        rows = (
            [at, *(None if math.isnan(value) else value for value in row)]
            for at, row in enumerate(numbers.tolist())
        )
        try:
            engine.execute(f"CREATE TABLE {TABLE} ({', '.join(columns)})")
            marks = ", ".join("?" * len(columns))
            engine.executemany(f"INSERT INTO {TABLE} VALUES ({marks})", rows)
            found = engine.execute(query.text).fetchall()
        except sqlite3.Error as error:
            raise CrisptreeError(
                f"SQLite cannot run a query this large ({error}); write it with --unchecked"
            ) from None
        ordered = sorted(found)  # by the first column, the row's number
        return np.array([row[-len(query.results) :] for row in ordered])

    return decide
