"""What a policy can be exported to, by name: how it is written, checked and into which files."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
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
from crisptree.export.c_text import CSource
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


@dataclass(frozen=True)
class Target:
    """How an export is made, written and checked."""

    language: str
    suffixes: tuple[str, ...]
    """How its files usually end."""
    make: Callable[[CrispTree, str], Any]
    """From a tree and a name to what is exported."""
    decider: Callable[[Any], Decider]
    """From what is exported to a function that runs it."""
    files: Callable[[Any], Mapping[str, str | bytes]] = lambda made: {"": made}
    """The contents by suffix; no suffix is the file asked for."""
    dtypes: tuple[Any, ...] = (np.float64, np.float32)
    """Types of the observations that it is checked on; test vectors are of the first."""
    has_vectors: bool = True

    def check(self, tree: CrispTree, made: Any, count: int) -> int:
        """On how many observations, `count` of them random, it decides as the tree does."""
        decide = self.decider(made)
        return sum(check(tree, decide, dtype, count) for dtype in self.dtypes)

    def vectors(self, tree: CrispTree, made: Any) -> str:
        """Test vectors as CSV."""
        return as_csv(tree, vectors(tree, self.dtypes[0]))


class FixedTarget(Target):
    """C in whole numbers, which is checked on its own grid."""

    def check(self, tree: CrispTree, made: Any, count: int) -> int:
        return check_fixed(tree, made.fixed, self.decider(made), count)

    def vectors(self, tree: CrispTree, made: Any) -> str:
        return fixed_vectors.as_csv(made.fixed)


def _c_files(code: CSource) -> Mapping[str, str]:
    return {".c": code.source, ".h": code.header}


TARGETS: Mapping[str, Target] = {
    "python": Target(
        "Python",
        (".py",),
        lambda tree, name: python_function.as_python(tree),
        python_function.decider,
    ),
    "c": Target("C", (".c", ".h"), as_c, programs.compiled, _c_files),
    **{
        name: FixedTarget(
            f"C in fixed point, {bits} bits",
            (".c", ".h"),
            partial(as_fixed_c, bits=bits),
            lambda made: programs.compiled_for(made.code, f"int{made.fixed.bits}_t"),
            lambda made: _c_files(made.code),
        )
        for name, bits in (("c-fixed", 32), ("c-fixed16", 16))
    },
    "rust": Target("Rust", (".rs",), lambda tree, name: as_rust(tree), programs.in_rust),
    "javascript": Target(
        "JavaScript",
        (".mjs", ".js"),
        lambda tree, name: as_javascript(tree),
        programs.in_node,
    ),
    "st": Target(
        "Structured Text",
        (".st", ".scl", ".iecst", ".exp"),
        lambda tree, name: as_structured_text(tree, name).text,
        lambda made: structured_text_reader.read(made).run,
    ),
    "plcopen": Target("PLCopen XML", (".xml",), plcopen.as_plcopen, plcopen.decider),
    "sql": Target(
        "SQL",
        (".sql",),
        lambda tree, name: sql_query.as_sql(tree),
        sql_query.decider,
        lambda made: {"": made.text},
    ),
    "onnx": Target(
        "ONNX",
        (".onnx",),
        lambda tree, name: onnx_model.as_onnx(tree),
        onnx_model.decider,
        dtypes=(np.float32,),
    ),
    "sklearn": Target(
        "scikit-learn",
        (".joblib", ".pkl"),
        lambda tree, name: sklearn_model.as_joblib(tree),
        sklearn_model.decider,
        dtypes=(np.float32,),
    ),
    "csv": Target(
        "CSV",
        (".csv",),
        lambda tree, name: as_rules_csv(tree),
        rule_table_reader.csv_decider,
        lambda made: {"": made.text},
        has_vectors=False,
    ),
    "markdown": Target(
        "Markdown",
        (".md", ".markdown"),
        lambda tree, name: as_rules_markdown(tree),
        rule_table_reader.markdown_decider,
        lambda made: {"": made.text},
        has_vectors=False,
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
    checked = target.check(tree, made, count) if count else 0
    contents = {
        path if not suffix else path.with_suffix(suffix): content
        for suffix, content in target.files(made).items()
    }
    if vectors_to is not None and target.has_vectors:
        if Path(vectors_to) in contents:
            raise CrisptreeError(f"{vectors_to} is the export itself; test vectors go elsewhere")
        contents[Path(vectors_to)] = target.vectors(tree, made)
    for file, content in contents.items():
        write_atomically(file, content)
    return Written(tuple(contents), checked)
