"""What a policy can be exported to, by name: how it is written, checked and into which files."""

from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.base.files import write_atomically
from crisptree.crisp import CrispTree
from crisptree.export import (
    fixed_vectors,
    onnx_model,
    plcopen,
    programs,
    python_function,
    rule_table_reader,
    sklearn_model,
    sql_query,
    structured_text_reader,
)
from crisptree.export.c_code import as_c
from crisptree.export.check import check
from crisptree.export.fixed_c import as_fixed_c
from crisptree.export.fixed_check import check_fixed
from crisptree.export.javascript_module import as_javascript
from crisptree.export.programs import Decider
from crisptree.export.rule_table import as_rules_csv, as_rules_markdown
from crisptree.export.rust_code import as_rust
from crisptree.export.states import RANDOM_STATES
from crisptree.export.structured_text import as_structured_text
from crisptree.export.vectors import as_csv, vectors


def vectors_in_float64(tree: CrispTree, made: Any) -> str:
    """Test vectors as CSV."""
    return as_csv(tree, vectors(tree, np.float64))


def vectors_in_float32(tree: CrispTree, made: Any) -> str:
    """Test vectors for what computes in float32."""
    return as_csv(tree, vectors(tree, np.float32))


def decides_by(
    decider: Callable[[Any], Decider], *dtypes: Any
) -> Callable[[CrispTree, Any, int], int]:
    """A check that runs what `decider` makes of an export on observations of each type."""

    def checked(tree: CrispTree, made: Any, count: int) -> int:
        decide = decider(made)
        return sum(check(tree, decide, dtype, count) for dtype in dtypes)

    return checked


class Target(NamedTuple):
    """`make` turns a tree and a name into what is exported and `files` that into suffixes and
    contents; no suffix is the file asked for."""

    language: str
    suffixes: tuple[str, ...]
    """How its files usually end."""
    make: Callable[[CrispTree, str], Any]
    files: Callable[[Any], Mapping[str, str | bytes]]
    check: Callable[[CrispTree, Any, int], int]
    """Returns on how many observations, `count` of them random, it decides as the tree does."""
    vectors: Callable[[CrispTree, Any], str] | None = vectors_in_float64
    """Test vectors as CSV, where they are of use."""


def _alone(content: Any) -> Mapping[str, str | bytes]:
    """The one file asked for."""
    return {"": content}


TARGETS: Mapping[str, Target] = {
    "python": Target(
        "Python",
        (".py",),
        lambda tree, name: python_function.as_python(tree),
        _alone,
        decides_by(python_function.decider, np.float64, np.float32),
    ),
    "c": Target(
        "C",
        (".c", ".h"),
        lambda tree, name: as_c(tree, name),
        lambda made: {".c": made.source, ".h": made.header},
        decides_by(programs.compiled, np.float64, np.float32),
    ),
    "c-fixed": Target(
        "C in fixed point, 32 bits",
        (".c", ".h"),
        lambda tree, name: as_fixed_c(tree, name),
        lambda made: {".c": made.code.source, ".h": made.code.header},
        check_fixed,
        lambda tree, made: fixed_vectors.as_csv(made.fixed),
    ),
    "c-fixed16": Target(
        "C in fixed point, 16 bits",
        (".c", ".h"),
        lambda tree, name: as_fixed_c(tree, name, 16),
        lambda made: {".c": made.code.source, ".h": made.code.header},
        check_fixed,
        lambda tree, made: fixed_vectors.as_csv(made.fixed),
    ),
    "rust": Target(
        "Rust",
        (".rs",),
        lambda tree, name: as_rust(tree),
        _alone,
        decides_by(programs.in_rust, np.float64, np.float32),
    ),
    "javascript": Target(
        "JavaScript",
        (".mjs", ".js"),
        lambda tree, name: as_javascript(tree),
        _alone,
        decides_by(programs.in_node, np.float64, np.float32),
    ),
    "st": Target(
        "Structured Text",
        (".st", ".scl", ".iecst", ".exp"),
        lambda tree, name: as_structured_text(tree, name).text,
        _alone,
        decides_by(lambda made: structured_text_reader.read(made).run, np.float64, np.float32),
    ),
    "plcopen": Target(
        "PLCopen XML",
        (".xml",),
        lambda tree, name: plcopen.as_plcopen(tree, name),
        _alone,
        decides_by(plcopen.decider, np.float64, np.float32),
    ),
    "sql": Target(
        "SQL",
        (".sql",),
        lambda tree, name: sql_query.as_sql(tree),
        lambda made: {"": made.text},
        decides_by(sql_query.decider, np.float64, np.float32),
    ),
    "onnx": Target(
        "ONNX",
        (".onnx",),
        lambda tree, name: onnx_model.as_onnx(tree),
        _alone,
        decides_by(onnx_model.decider, np.float32),
        vectors_in_float32,
    ),
    "sklearn": Target(
        "scikit-learn",
        (".joblib", ".pkl"),
        lambda tree, name: sklearn_model.as_joblib(tree),
        _alone,
        decides_by(sklearn_model.decider, np.float32),
        vectors_in_float32,
    ),
    "csv": Target(
        "CSV",
        (".csv",),
        lambda tree, name: as_rules_csv(tree),
        lambda made: {"": made.text},
        decides_by(rule_table_reader.csv_decider, np.float64, np.float32),
        None,
    ),
    "markdown": Target(
        "Markdown",
        (".md", ".markdown"),
        lambda tree, name: as_rules_markdown(tree),
        lambda made: {"": made.text},
        decides_by(rule_table_reader.markdown_decider, np.float64, np.float32),
        None,
    ),
}


class Written(NamedTuple):
    """The files that were written, and on how many observations they were checked."""

    files: tuple[Path, ...]
    states: int


def export(
    tree: CrispTree,
    to: str,
    out: str | PathLike[str],
    *,
    count: int = RANDOM_STATES,
    vectors_to: str | PathLike[str] | None = None,
) -> Written:
    """Write `tree` as `to` says, once it decided like the tree on `count` random observations of
    each precision it takes and on those next to each threshold; 0 checks nothing.

    `vectors_to` is a file for test vectors.
    """
    if to not in TARGETS:
        raise CrisptreeError(f"there is no export '{to}'; there are {', '.join(TARGETS)}")
    target, path = TARGETS[to], Path(out)
    made = target.make(tree, path.stem)
    checked = 0
    if count:
        checked = target.check(tree, made, count)
    contents = {
        path if not suffix else path.with_suffix(suffix): content
        for suffix, content in target.files(made).items()
    }
    if vectors_to is not None and target.vectors is not None:
        if Path(vectors_to) in contents:
            raise CrisptreeError(f"{vectors_to} is the export itself; test vectors go elsewhere")
        contents[Path(vectors_to)] = target.vectors(tree, made)
    for file, content in contents.items():
        write_atomically(file, content)
    return Written(tuple(contents), checked)
