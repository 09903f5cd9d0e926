"""Structured Text run from blark's syntax tree: a grammar of IEC 61131-3 that others wrote.

Only this file says what the statements mean, one observation at a time; it shares nothing with the
emitter, nor with the reader that exports are checked by.
"""

import operator
from collections.abc import Callable
from typing import Any

import blark
import blark.transform as st
import numpy as np

Scope = dict[str, Any]
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "AND": lambda one, other: one and other,
}


def run(text: str, states: np.ndarray) -> np.ndarray:
    """The outputs of the function block for each row."""
    (block,) = blark.parse_source_code(text).transform().items
    assert isinstance(block, st.FunctionBlock) and isinstance(block.body, st.StatementList)
    inputs, outputs = (
        _names(block, kind) for kind in (st.InputDeclarations, st.OutputDeclarations)
    )
    rows = []
    for row in states.astype(np.float64).tolist():
        scope: Scope = dict(zip(inputs, row, strict=True))
        _execute(block.body, scope)
        rows.append([scope[name] for name in outputs])
    return np.array(rows)


def _names(block: st.FunctionBlock, kind: type) -> list[str]:
    (declared,) = (each for each in block.declarations if isinstance(each, kind))
    return [
        str(variable.variable.name).lower()
        for item in declared.items
        for variable in item.variables
    ]


def _execute(statements: st.StatementList | None, scope: Scope) -> None:
    for each in statements.statements if statements else ():
        if isinstance(each, st.AssignmentStatement):
            value = _value(each.expression, scope)
            for variable in each.variables:
                scope[_name(variable)] = value
        elif isinstance(each, st.IfStatement):
            branches = [(each.if_expression, each.statements)]
            branches += [(clause.if_expression, clause.statements) for clause in each.else_ifs]
            for condition, chosen in branches:
                if _value(condition, scope):
                    _execute(chosen, scope)
                    break
            else:
                if each.else_clause is not None:
                    _execute(each.else_clause.statements, scope)
        else:
            raise TypeError(f"no statement of a policy: {each}")


def _value(expression: Any, scope: Scope) -> Any:
    if isinstance(expression, st.BinaryOperation):
        sides = (_value(side, scope) for side in (expression.left, expression.right))
        return OPERATORS[str(expression.op).upper()](*sides)
    if isinstance(expression, st.UnaryOperation):
        value = _value(expression.expr, scope)
        return not value if str(expression.op).upper() == "NOT" else -value
    if isinstance(expression, st.ParenthesizedExpression):
        return _value(expression.expr, scope)
    if isinstance(expression, st.Real):
        return float(expression.value)
    if isinstance(expression, st.Integer):
        return int(expression.value)
    return scope[_name(expression)]


def _name(variable: Any) -> str:
    assert isinstance(variable, st.SimpleVariable)
    return str(variable.name).lower()
