"""Pieces of C that several exports write: comments, strings, tables, the self-test."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from crisptree.base.errors import CrisptreeError
from crisptree.base.text import printable
from crisptree.crisp import CrispTree
from crisptree.export.branches import If, statements
from crisptree.export.identifiers import identifier
from crisptree.export.leaves import in_words


class CSource(NamedTuple):
    """What goes into `stem`.h and `stem`.c; public names start with `name`."""

    stem: str
    name: str
    header: str
    source: str
    value: str
    """The C type of one number of the action."""
    n_values: int
    is_vector: bool
    """Whether the function fills an array, or returns one number."""

    @property
    def upper(self) -> str:
        return self.name.upper()


def prefix(stem: str) -> str:
    """What the public names of a file start with."""
    if not re.fullmatch(r"[\w.+ -]+", stem):
        raise CrisptreeError(f"{stem!r} is no file name for C; letters, digits, _ and - would do")
    letters = re.sub(r"[^A-Za-z0-9]+", "_", stem).strip("_")
    return letters if letters[:1].isalpha() else f"policy_{identifier(stem)}".rstrip("_")


def declaration(name: str, real: str, value: str, is_vector: bool) -> str:
    """The declaration of the function, without the semicolon."""
    upper = name.upper()
    x = f"const {real} x[{upper}_FEATURES]"
    if is_vector:
        return f"void {name}_action({x}, {value} action[{upper}_VALUES])"
    return f"{value} {name}_action({x})"


def call_of(name: str, x: str, is_vector: bool) -> str:
    """A call that puts the numbers of the action into the array `action`."""
    return f"{name}_action({x}, action)" if is_vector else f"*action = {name}_action({x})"


def body(
    tree: CrispTree,
    comparisons: Sequence[tuple[str, str]],
    leaves: Sequence[Sequence[str]],
    is_vector: bool,
) -> str:
    """The function's statements. `comparisons` are those of the nodes, in C and in words, and
    `leaves` the numbers of each leaf in C."""
    lines = []
    for statement in statements(tree):
        indent = "    " * (statement.level + 1)
        if isinstance(statement, If):
            comparison, words = comparisons[statement.node]
            condition = comparison if statement.answer else f"!({comparison})"
            lines.append(f"{indent}if ({condition}) {{ {comment(words)}")
            continue
        values = leaves[statement.leaf]
        words = comment(in_words(tree, statement.leaf))
        if is_vector:
            lines += [f"{indent}action[{at}] = {value};" for at, value in enumerate(values)]
            lines.append(f"{indent}return; {words}")
        else:
            lines.append(f"{indent}return {values[0]}; {words}")
        if statement.level:
            lines.append("    " * statement.level + "}")
    return "\n".join(lines) + "\n"


def self_test(name: str, real: str, value: str, is_vector: bool, cases: Sequence[str]) -> str:
    """A `main` that tries `cases`, each `{{x, …}, {value, …}},`, and says how many are right."""
    upper = name.upper()
    rows = "\n".join(f"    {case}" for case in cases)
    call = call_of(name, "cases[at].x", is_vector)
    format_, printed = ("%.17g", "") if value == "double" else ("%ld", "(long)")
    return f"""\
#ifdef {upper}_SELF_TEST
#include <stdio.h>

static const struct {{
    {real} x[{upper}_FEATURES];
    {value} action[{upper}_VALUES];
}} cases[] = {{
{rows}
}};

int main(void)
{{
    unsigned long at, value, wrong = 0, all = sizeof cases / sizeof *cases;
    for (at = 0; at < all; at++) {{
        {value} action[{upper}_VALUES];
        {call};
        for (value = 0; value < {upper}_VALUES; value++) {{
            if (action[value] != cases[at].action[value]) {{
                printf("case %lu: {format_}, expected {format_}\\n", at, {printed}action[value],
                       {printed}cases[at].action[value]);
                wrong++;
                break;
            }}
        }}
    }}
    printf("%lu of %lu cases right\\n", all - wrong, all);
    return wrong != 0;
}}
#endif
"""


def table(name: str, length: str, values: Sequence[str]) -> str:
    """An array of strings."""
    rows = "\n".join(f"    {string(value)}," for value in values)
    return f"const char *const {name}[{length}] = {{\n{rows}\n}};\n"


def string(text: str) -> str:
    """A string literal of UTF-8; characters with a meaning in C, trigraphs included, are octal."""
    kept = re.compile(r"[A-Za-z0-9 _.,:;+\-()=<>/*'!&|^~@#$%{}\[\]]")
    octal = (
        chr(byte) if kept.match(chr(byte)) else f"\\{byte:03o}" for byte in text.encode("utf-8")
    )
    return '"' + "".join(octal) + '"'


def comment(*lines: str) -> str:
    """A comment that ends where it should: without comment marks, line joins or trigraphs
    inside."""
    safe = []
    for line in lines:
        text = re.sub(r"[\\?]", "_", printable(line))
        safe.append(re.sub(r"(?<=\*)(?=/)|(?<=/)(?=\*)", " ", text))
    return "/* " + "\n   ".join(safe) + " */"
