"""A tree as a Rust module that uses `core` only: no `std`, no allocation, no `unsafe`.

The file is a module for `mod policy;`, in a crate with `#![no_std]` or without. Rust computes with
f64 as the policy does, to the last bit.
"""

import json

import numpy as np

from crisptree.crisp import CrispTree
from crisptree.export.about import about
from crisptree.export.leaves import observed_names
from crisptree.export.nested_ifs import Language, lines_of
from crisptree.export.vectors import thinned, vectors

MOST_CASES = 256

GIVES = {
    "discrete": "The number of the action for one observation.",
    "multi_discrete": "The numbers of the choices for one observation, part by part.",
    "box": "The action for one observation, dimension by dimension.",
}
RUST = Language(
    "    ",
    lambda comparison, answer: f"if {comparison if answer else f'!({comparison})'} {{",
    "return {};",
    " // ",
    last="{}",
    end="}",
)
WITHIN = """
fn within(value: f64, low: f64, high: f64) -> f64 {
    if value > low {
        if value < high {
            value
        } else {
            high
        }
    } else {
        low
    }
}
"""


def as_rust(tree: CrispTree) -> str:
    """The text of a module with `action(&x)`, `FEATURES` and `ACTIONS`."""
    number = "f64" if tree.actions.kind == "box" else "i64"
    is_vector = tree.actions.kind != "discrete"
    gives = f"[{number}; {tree.actions.n_values}]" if is_vector else number
    x = "x" if tree.n_nodes > 1 or tree.is_linear else "_x"
    return "\n".join(
        [
            *(f"//! {line}" for line in about(tree)),
            "",
            *_table("FEATURES", observed_names(tree)),
            *_table("ACTIONS", tree.action_names),
            *([WITHIN] if tree.is_linear else [""]),
            f"/// {GIVES[tree.actions.kind]}",
            "#[allow(clippy::all)]",
            f"pub fn action({x}: &[f64; {tree.n_features}]) -> {gives} {{",
            *lines_of(tree, RUST),
            "}",
            "",
            *_tests(tree, gives),
            "",
        ]
    )


def _value(tree: CrispTree, row: list[str]) -> str:
    return row[0] if tree.actions.kind == "discrete" else RUST.value(row)


def _tests(tree: CrispTree, gives: str) -> list[str]:
    """The module's own test, with test vectors that are floats as well as doubles."""
    cases = [
        f"            ([{', '.join(map(repr, vector.state))}], "
        f"{_value(tree, [*map(repr, vector.action)])}),"
        for vector in thinned(vectors(tree, np.float32), MOST_CASES)
    ]
    return [
        "#[cfg(test)]",
        "#[allow(clippy::all)]",
        "mod tests {",
        "    #[test]",
        "    fn test_vectors() {",
        f"        let cases: [([f64; {tree.n_features}], {gives}); {len(cases)}] = [",
        *cases,
        "        ];",
        "        for (x, action) in cases.iter() {",
        "            assert_eq!(super::action(x), *action);",
        "        }",
        "    }",
        "}",
    ]


def _table(name: str, values: tuple[str, ...]) -> list[str]:
    rows = [f"    {_string(value)}," for value in values]
    return ["#[allow(dead_code)]", f"pub const {name}: [&str; {len(values)}] = [", *rows, "];"]


def _string(text: str) -> str:
    """A string literal in ASCII."""
    return '"' + "".join(map(_character, text)) + '"'


def _character(character: str) -> str:
    if " " <= character <= "~":
        return json.dumps(character)[1:-1]
    return f"\\u{{{ord(character):x}}}"
