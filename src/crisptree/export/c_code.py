"""A tree as C99: nested ifs, no allocation, no library; a header and a self-test come with it.

Numbers are hexadecimal, with the decimal beside them: a decimal constant may be read with more
precision than a double where FLT_EVAL_METHOD is 2, and would then differ from the threshold.
An observation is made of doubles, or of floats with -DNAME_REAL=float everywhere; either way it is
compared as a double, exactly.
"""

import numpy as np

from crisptree.crisp import CrispTree
from crisptree.export.about import about
from crisptree.export.c_text import CSource, body, comment, declaration, prefix, self_test, table
from crisptree.export.leaves import asked_text, leaf_texts, observed_names, sum_text
from crisptree.export.vectors import thinned, vectors

MOST_CASES = 256

GIVES = {
    "discrete": "The number of the action for one observation.",
    "multi_discrete": "Puts the numbers of the choices for one observation, part by part.",
    "box": "Puts the action for one observation, dimension by dimension.",
}
EXACTLY = """\
/* No fused multiply-add: sums are rounded as the policy rounds them. gcc needs -std=c99 or
   -ffp-contract=off for that. */
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

"""
WITHIN = """\
static double within(double value, double low, double high)
{
    return value > low ? (value < high ? value : high) : low;
}

"""


def as_c(tree: CrispTree, stem: str = "policy") -> CSource:
    """Header and source for two files of that name without their endings."""
    name = prefix(stem)
    upper = name.upper()
    is_vector = tree.actions.kind != "discrete"
    value = "double" if tree.actions.kind == "box" else "int"
    leaves = leaf_texts(tree, _number, lambda leaf, at: _computed(tree, leaf, at))
    head = declaration(name, f"{upper}_REAL", value, is_vector)
    header = f"""\
{comment(*about(tree))}
#ifndef {upper}_H
#define {upper}_H

/* What an observation is made of. Define it as float, everywhere, if yours are floats. */
#ifndef {upper}_REAL
#define {upper}_REAL double
#endif

#define {upper}_FEATURES {tree.n_features}
#define {upper}_ACTIONS {tree.n_actions} {comment(_actions_are(tree))}
#define {upper}_VALUES {tree.actions.n_values} /* numbers in one action */

extern const char *const {name}_feature_names[{upper}_FEATURES];
extern const char *const {name}_action_names[{upper}_ACTIONS];

/* {GIVES[tree.actions.kind]} */
{head};

#endif
"""
    source = f"""\
{comment(*about(tree), f"Test: cc -std=c99 -D{upper}_SELF_TEST {stem}.c && ./a.out")}
#include "{stem}.h"

{table(f"{name}_feature_names", f"{upper}_FEATURES", observed_names(tree))}
{table(f"{name}_action_names", f"{upper}_ACTIONS", tree.action_names)}
{_helpers(tree)}{head}
{{
{_unused(tree)}{body(tree, _comparisons(tree), leaves, is_vector)}}}

{self_test(name, f"{upper}_REAL", value, is_vector, _cases(tree))}"""
    return CSource(stem, name, header, source, value, tree.actions.n_values, is_vector)


def _actions_are(tree: CrispTree) -> str:
    if tree.actions.kind == "discrete":
        first = tree.actions.start[0] if tree.actions.start else 0
        return f"actions, numbered from {first}"
    return "parts of an action" if tree.actions.kind == "multi_discrete" else "dimensions"


def _helpers(tree: CrispTree) -> str:
    sums = tree.is_linear or len(tree.features) > tree.n_features
    return (EXACTLY if sums else "") + (WITHIN if tree.is_linear else "")


def _unused(tree: CrispTree) -> str:
    return "" if tree.n_nodes > 1 or tree.is_linear else "    (void)x;\n"


def _comparisons(tree: CrispTree) -> list[tuple[str, str]]:
    return [
        (
            f"{asked_text(tree, feature, float.hex, lambda at: f'x[{at}]')} > {threshold.hex()}",
            f"{tree.feature_names[feature]} > {threshold!r}",
        )
        for feature, threshold, _, _ in tree.nodes
    ]


def _computed(tree: CrispTree, leaf: int, dimension: int) -> str:
    value = sum_text(tree, leaf, dimension, float.hex, lambda feature: f"x[{feature}]")
    bounds = tree.actions.low[dimension].hex(), tree.actions.high[dimension].hex()
    return f"within({value}, {bounds[0]}, {bounds[1]})"


def _number(value: int | float) -> str:
    return value.hex() if isinstance(value, float) else str(value)


def _cases(tree: CrispTree) -> list[str]:
    """Test vectors in numbers that are floats as well as doubles; features left out are zero."""
    found = []
    for vector in thinned(vectors(tree, np.float32), MOST_CASES):
        values = ", ".join(
            f"[{at}] = {value.hex()}" for at, value in enumerate(vector.state) if value
        )
        answer = ", ".join(_number(value) for value in vector.action)
        found.append(f"{{{{{values or '0'}}}, {{{answer}}}}},")
    return found
