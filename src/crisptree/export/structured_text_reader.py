"""Runs Structured Text: a small reader of what `structured_text` writes, to check it.

It knows assignments, IF, sums of products and comparisons, as IEC 61131-3 defines them, and nothing
of the tree that the text was made from. Many observations run at once.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

TOKEN = re.compile(
    r"\(\*.*?\*\)|(?P<token>\d+(?:\.\d+)?(?:E[+-]?\d+)?|[A-Za-z]\w*|:=|[<>]=?|<>|[-+*():;=])|\s+",
    re.DOTALL | re.IGNORECASE,
)
Values = dict[str, NDArray]
Expression = Callable[[Values, NDArray], NDArray]
Statement = Callable[[Values, NDArray], None]


class Program(NamedTuple):
    """A function block that was read."""

    inputs: tuple[str, ...]
    outputs: tuple[tuple[str, str], ...]
    """Names and types."""
    body: Statement

    def run(self, states: NDArray) -> NDArray:
        """The outputs for each row: int64 or float64, `(N,)` if there is one number of choice."""
        rows = np.arange(len(states))
        columns = states.astype(np.float64).T
        values = dict(zip(self.inputs, columns, strict=True))
        for name, type_ in self.outputs:
            values[name] = np.zeros(len(states), np.float64 if type_ == "LREAL" else np.int64)
        with np.errstate(over="ignore", invalid="ignore"):
            self.body(values, rows)
        return np.stack([values[name] for name, _ in self.outputs], axis=1)


class ParseError(ValueError):
    """The text is outside the part of the language that this reader knows."""


def read(text: str) -> Program:
    """The function block in a file of Structured Text."""
    reader = _Reader(_tokens(text))
    reader.expect("FUNCTION_BLOCK")
    reader.take()
    inputs = reader.variables("VAR_INPUT")
    outputs = reader.variables("VAR_OUTPUT")
    body = reader.statements("END_FUNCTION_BLOCK")
    reader.expect("END_FUNCTION_BLOCK")
    return Program(tuple(name for name, _ in inputs), tuple(outputs), body)


def read_body(text: str, inputs: list[str], outputs: list[tuple[str, str]]) -> Program:
    """A function block whose variables are declared elsewhere."""
    reader = _Reader([*_tokens(text), "END_FUNCTION_BLOCK"])
    body = reader.statements("END_FUNCTION_BLOCK")
    return Program(tuple(inputs), tuple(outputs), body)


def _tokens(text: str) -> list[str]:
    found, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise ParseError(f"{text[at : at + 20]!r} is no Structured Text")
        if match["token"]:
            found.append(match["token"])
        at = match.end()
    return found


class _Reader:
    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens[::-1]

    @property
    def next(self) -> str:
        return self.tokens[-1] if self.tokens else ""

    def take(self) -> str:
        if not self.tokens:
            raise ParseError("the text ends too early")
        return self.tokens.pop()

    def expect(self, wanted: str) -> None:
        found = self.take()
        if found != wanted:
            raise ParseError(f"{found!r} where {wanted!r} was expected")

    def variables(self, kind: str) -> list[tuple[str, str]]:
        self.expect(kind)
        found = []
        while self.next != "END_VAR":
            name = self.take()
            self.expect(":")
            found.append((name, self.take()))
            self.expect(";")
        self.take()
        return found

    def statements(self, *ends: str) -> Statement:
        found: list[Statement] = []
        while self.next not in ends:
            found.append(self.choice() if self.next == "IF" else self.assignment())

        def run(values: Values, rows: NDArray) -> None:
            for statement in found:
                statement(values, rows)

        return run

    def assignment(self) -> Statement:
        name = self.take()
        self.expect(":=")
        value = self.sum()
        self.expect(";")

        def run(values: Values, rows: NDArray) -> None:
            values[name][rows] = value(values, rows)

        return run

    def choice(self) -> Statement:
        cases: list[tuple[Expression, Statement]] = []
        while self.next in ("IF", "ELSIF"):
            self.take()
            condition = self.condition()
            self.expect("THEN")
            cases.append((condition, self.statements("ELSIF", "ELSE", "END_IF")))
        otherwise: Statement | None = None
        if self.next == "ELSE":
            self.take()
            otherwise = self.statements("END_IF")
        self.expect("END_IF")
        self.expect(";")

        def run(values: Values, rows: NDArray) -> None:
            for condition, block in cases:
                holds = condition(values, rows)
                block(values, rows[holds])
                rows = rows[~holds]
            if otherwise is not None:
                otherwise(values, rows)

        return run

    def condition(self) -> Expression:
        if self.next == "NOT":
            self.take()
            self.expect("(")
            inner = self.condition()
            self.expect(")")
            return lambda values, rows: ~inner(values, rows)
        left, operator, right = self.sum(), self.take(), self.sum()
        compare = {">": np.greater, "<": np.less}.get(operator)
        if compare is None:
            raise ParseError(f"{operator!r} where a comparison was expected")
        return lambda values, rows: compare(left(values, rows), right(values, rows))

    def sum(self) -> Expression:
        found = self.product()
        while self.next in ("+", "-"):
            found = _computed(self.take(), found, self.product())
        return found

    def product(self) -> Expression:
        found = self.number()
        while self.next == "*":
            found = _computed(self.take(), found, self.number())
        return found

    def number(self) -> Expression:
        token = self.take()
        if token == "-":
            inner = self.number()
            return lambda values, rows: -inner(values, rows)
        if token[0].isdigit():
            constant = np.float64(token) if "." in token else np.int64(token)
            return lambda values, rows: np.full(len(rows), constant)
        return lambda values, rows: values[token][rows]


def _computed(operator: str, left: Expression, right: Expression) -> Expression:
    compute = {"+": np.add, "-": np.subtract, "*": np.multiply}[operator]
    return lambda values, rows: compute(left(values, rows), right(values, rows))
