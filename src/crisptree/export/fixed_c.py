"""A tree as C99 in whole numbers: no floating point, no library, no allocation.

`fixed_point` says what the numbers mean; the header says it again, feature by feature.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.export.about import about
from crisptree.export.c_text import CSource, body, comment, declaration, prefix, self_test, table
from crisptree.export.fixed_point import FixedPoint, Sum, decide, fixed_point
from crisptree.export.fixed_vectors import grid_vectors
from crisptree.export.leaves import outputs
from crisptree.export.vectors import thinned

MOST_CASES = 256
BITS = (16, 32)

GIVES = {
    "discrete": "The number of the action for one observation.",
    "multi_discrete": "Puts the numbers of the choices for one observation, part by part.",
    "box": "Puts the action for one observation: value d stands for value / 2^action_shift[d].",
}
ROUNDED = """\
/* value / 2^shift, rounded to the nearest, halves up. C leaves open what a right shift does to a
   negative number, so none is shifted. */
static int{wide}_t rounded(int{wide}_t value, int shift)
{{
    value += (int{wide}_t)1 << (shift - 1);
    return value >= 0 ? value >> shift : -((-value + ((int{wide}_t)1 << shift) - 1) >> shift);
}}

"""
WITHIN = """\
static int{bits}_t within(int{wide}_t value, int{bits}_t low, int{bits}_t high)
{{
    return value < low ? low : value > high ? high : (int{bits}_t)value;
}}

"""


class FixedC(NamedTuple):
    """The C files, and the policy on the grid that they are made of."""

    code: CSource
    fixed: FixedPoint


def as_fixed_c(tree: CrispTree, stem: str = "policy", bits: int = 32) -> FixedC:
    """Header and source for numbers of 16 or 32 bits."""
    if bits not in BITS:
        raise CrisptreeError(f"fixed point has {' or '.join(map(str, BITS))} bits, not {bits}")
    name = prefix(stem)
    upper = name.upper()
    fixed = fixed_point(tree, bits)
    is_vector = tree.actions.kind != "discrete"
    whole = f"int{bits}_t"
    value = whole if tree.actions.kind == "box" else "int"
    head = declaration(name, whole, value, is_vector)
    header = f"""\
{comment(*about(tree)[:1], *_meaning(tree, fixed), *about(tree)[-1:])}
#ifndef {upper}_H
#define {upper}_H

#include <stdint.h>

#define {upper}_FEATURES {tree.n_features}
#define {upper}_ACTIONS {tree.n_actions}
#define {upper}_VALUES {tree.actions.n_values} /* numbers in one action */

extern const char *const {name}_feature_names[{upper}_FEATURES];
extern const char *const {name}_action_names[{upper}_ACTIONS];
extern const int {name}_feature_shift[{upper}_FEATURES];
{f"extern const int {name}_action_shift[{upper}_VALUES];{chr(10)}" if fixed.action_shifts else ""}
/* {GIVES[tree.actions.kind]} */
{head};

#endif
"""
    cases = _cases(fixed)
    source = f"""\
{comment(*about(tree)[:1], f"Test: cc -std=c99 -D{upper}_SELF_TEST {stem}.c && ./a.out")}
#include "{stem}.h"

{table(f"{name}_feature_names", f"{upper}_FEATURES", tree.feature_names)}
{table(f"{name}_action_names", f"{upper}_ACTIONS", tree.action_names)}
{_shifts(f"{name}_feature_shift", f"{upper}_FEATURES", fixed.shifts)}
{_shifts(f"{name}_action_shift", f"{upper}_VALUES", fixed.action_shifts)}
{_functions(fixed)}{head}
{{
{_unused(fixed)}{body(fixed.tree, _comparisons(fixed), _leaves(fixed), is_vector)}}}

{self_test(name, whole, value, is_vector, cases)}"""
    return FixedC(
        CSource(stem, name, header, source, value, tree.actions.n_values, is_vector), fixed
    )


def _meaning(tree: CrispTree, fixed: FixedPoint) -> list[str]:
    """What the numbers stand for, as lines of the header."""
    lines = [
        f"Whole numbers of {fixed.bits} bits. Give each feature as q = floor(x * 2^shift),",
        f"kept within {fixed.lowest} to {fixed.highest}:",
    ]
    used = {*fixed.tree.feature.tolist(), *(gain[1] for gains in tree.gains for gain in gains)}
    for at, (name, shift) in enumerate(zip(tree.feature_names, fixed.shifts, strict=True)):
        if at not in used:
            lines.append(f"  {name}: not looked at")
            continue
        step, reach = (float(np.ldexp(float(each), -shift)) for each in (1, fixed.highest))
        lines.append(f"  {name}: shift {shift}, steps of {step:.6g}, up to {reach:.6g}")
    lines.append("On this grid it decides exactly as the policy.")
    for at, shift in enumerate(fixed.action_shifts):
        lines.append(
            f"  {tree.action_names[at]}: shift {shift}; there it is within "
            f"{fixed.tolerances[at]:.3g} of the policy's"
        )
    return lines


def _shifts(name: str, length: str, values: Sequence[int]) -> str:
    if not values:
        return ""
    return f"const int {name}[{length}] = {{{', '.join(map(str, values))}}};\n"


def _formulas(fixed: FixedPoint) -> list[Sum]:
    """The sums that look at the observation."""
    return [made for sums in fixed.sums.values() for made in sums if made.weights]


def _functions(fixed: FixedPoint) -> str:
    """What the formulas call, and nothing else: compilers warn of functions nobody calls."""
    formulas = _formulas(fixed)
    found = ROUNDED if any(made.shift for made in formulas) else ""
    found += WITHIN if formulas else ""
    return found.format(bits=fixed.bits, wide=2 * fixed.bits)


def _unused(fixed: FixedPoint) -> str:
    return "" if fixed.tree.n_nodes > 1 or _formulas(fixed) else "    (void)x;\n"


def _comparisons(fixed: FixedPoint) -> list[tuple[str, str]]:
    names = fixed.tree.feature_names
    return [
        (
            f"x[{feature}] > {int(threshold)}",
            f"{names[feature]} > {float(np.ldexp(threshold, -fixed.shifts[feature]))!r}",
        )
        for feature, threshold, _, _ in fixed.tree.nodes
    ]


def _leaves(fixed: FixedPoint) -> list[list[str]]:
    if fixed.tree.actions.kind != "box":
        return [[str(value) for value in row] for row in outputs(fixed.tree)]
    return [
        [
            _value(made, *bounds, 2 * fixed.bits)
            for made, bounds in zip(fixed.sums.get(node, ()), fixed.bounds, strict=False)
        ]
        for node in range(fixed.tree.n_nodes)
    ]


def _value(made: Sum, low: int, high: int, wide: int) -> str:
    """One number of a leaf's action; a constant is computed here already."""
    if not made.weights:
        return str(min(max(made.constant, low), high))
    text = f"INT{wide}_C({made.constant})"
    for feature, weight in made.weights:
        text += f" {'-' if weight < 0 else '+'} INT{wide}_C({abs(weight)}) * x[{feature}]"
    return f"within({f'rounded({text}, {made.shift})' if made.shift else text}, {low}, {high})"


def _cases(fixed: FixedPoint) -> list[str]:
    """Test vectors on the grid; features left out are zero."""
    points = np.array(thinned(grid_vectors(fixed), MOST_CASES), np.int64)
    answers: NDArray = decide(fixed, points).reshape(len(points), -1)
    found = []
    for point, answer in zip(points.tolist(), answers.tolist(), strict=True):
        values = ", ".join(f"[{at}] = {value}" for at, value in enumerate(point) if value)
        found.append(f"{{{{{values or '0'}}}, {{{', '.join(map(str, answer))}}}}},")
    return found
