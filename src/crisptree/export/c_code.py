"""A tree as C99: nested ifs, no allocation, no library; a header and a self-test come with it.

Thresholds are hexadecimal, with the decimal beside them: a decimal constant may be read with more
precision than a double where FLT_EVAL_METHOD is 2, and would then differ from the threshold.
An observation is made of doubles, or of floats with -DNAME_REAL=float everywhere; either way it is
compared as a double, exactly.
"""

import re
from typing import NamedTuple

import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.base.text import printable
from crisptree.crisp import CrispTree
from crisptree.export.branches import If, statements
from crisptree.export.origin import about
from crisptree.export.states import corners

MOST_CASES = 256


class CSource(NamedTuple):
    """What goes into `stem`.h and `stem`.c; public names start with `name`."""

    stem: str
    name: str
    header: str
    source: str


def as_c(tree: CrispTree, stem: str = "policy") -> CSource:
    """Header and source for two files of that name without their endings."""
    if not re.fullmatch(r"[\w.+ -]+", stem):
        raise CrisptreeError(f"{stem!r} is no file name for C; letters, digits, _ and - would do")
    name = identifier(stem)
    upper = name.upper()
    header = f"""\
{_comment(*about(tree))}
#ifndef {upper}_H
#define {upper}_H

/* What an observation is made of. Define it as float, everywhere, if yours are floats. */
#ifndef {upper}_REAL
#define {upper}_REAL double
#endif

#define {upper}_FEATURES {tree.n_features}
#define {upper}_ACTIONS {tree.n_actions}

extern const char *const {name}_feature_names[{upper}_FEATURES];
extern const char *const {name}_action_names[{upper}_ACTIONS];

/* The number of the action for one observation. */
int {name}_action(const {upper}_REAL x[{upper}_FEATURES]);

#endif
"""
    source = f"""\
{_comment(*about(tree), f"Test: cc -std=c99 -D{upper}_SELF_TEST {stem}.c && ./a.out")}
#include "{stem}.h"

{_table(f"{name}_feature_names", f"{upper}_FEATURES", tree.feature_names)}
{_table(f"{name}_action_names", f"{upper}_ACTIONS", tree.action_names)}
int {name}_action(const {upper}_REAL x[{upper}_FEATURES])
{{
{_body(tree)}}}

{_self_test(tree, name)}"""
    return CSource(stem, name, header, source)


def identifier(text: str) -> str:
    """A name for C made of `text`."""
    letters = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")
    return letters if letters[:1].isalpha() else f"policy_{letters}".rstrip("_")


def _body(tree: CrispTree) -> str:
    lines = [] if tree.n_nodes > 1 else ["    (void)x;"]
    for statement in statements(tree):
        indent = "    " * (statement.level + 1)
        if isinstance(statement, If):
            feature, threshold, _, _ = tree.nodes[statement.node]
            comparison = f"x[{feature}] > {threshold.hex()}"
            condition = comparison if statement.answer else f"!({comparison})"
            words = f"{tree.feature_names[feature]} > {threshold!r}"
            lines.append(f"{indent}if ({condition}) {{ {_comment(words)}")
        else:
            action = int(tree.action[statement.leaf])
            lines.append(f"{indent}return {action}; {_comment(tree.action_names[action])}")
            if statement.level:
                lines.append("    " * statement.level + "}")
    return "\n".join(lines) + "\n"


def _self_test(tree: CrispTree, name: str) -> str:
    """A `main` with states at the edges of the leaves; features left out are zero."""
    upper = name.upper()
    cases = []
    for state, action in _cases(tree):
        values = ", ".join(f"[{at}] = {value.hex()}" for at, value in state)
        cases.append(f"    {{{{{values or '0'}}}, {action}}},")
    rows = "\n".join(cases)
    return f"""\
#ifdef {upper}_SELF_TEST
#include <stdio.h>

static const struct {{
    {upper}_REAL x[{upper}_FEATURES];
    int action;
}} cases[] = {{
{rows}
}};

int main(void)
{{
    unsigned long at, wrong = 0, all = sizeof cases / sizeof *cases;
    for (at = 0; at < all; at++) {{
        int action = {name}_action(cases[at].x);
        if (action != cases[at].action) {{
            printf("case %lu: action %d, expected %d\\n", at, action, cases[at].action);
            wrong++;
        }}
    }}
    printf("%lu of %lu cases right\\n", all - wrong, all);
    return wrong != 0;
}}
#endif
"""


def _cases(tree: CrispTree) -> list[tuple[list[tuple[int, float]], int]]:
    """Both corners of evenly picked leaves, in numbers that are floats as well as doubles."""
    pairs = corners(tree, np.float32)
    picked = pairs[:: max(1, -(-len(pairs) // MOST_CASES))]
    cases = []
    for corner in picked:
        state = np.zeros(tree.n_features)
        state[[feature for feature, _ in corner]] = [value for _, value in corner]
        cases.append((corner, int(tree.predict(state)[0])))
    return cases


def _table(name: str, length: str, values: tuple[str, ...]) -> str:
    rows = "\n".join(f"    {_string(value)}," for value in values)
    return f"const char *const {name}[{length}] = {{\n{rows}\n}};\n"


def _string(text: str) -> str:
    """A string literal of UTF-8: what could mean something to C, trigraphs included, in octal."""
    kept = re.compile(r"[A-Za-z0-9 _.,:;+\-()=<>/*'!&|^~@#$%{}\[\]]")
    octal = (
        chr(byte) if kept.match(chr(byte)) else f"\\{byte:03o}" for byte in text.encode("utf-8")
    )
    return '"' + "".join(octal) + '"'


def _comment(*lines: str) -> str:
    """A comment that ends where it should: no marks of comments, line joins or trigraphs inside."""
    safe = []
    for line in lines:
        text = re.sub(r"[\\?]", "_", printable(line))
        safe.append(re.sub(r"(?<=\*)(?=/)|(?<=/)(?=\*)", " ", text))
    return "/* " + "\n   ".join(safe) + " */"
