"""`crisptree export`: a policy as a program, a query, a table or a model, without crisptree."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from crisptree.commands.options import option, positional

NAMES = "python|c|c-fixed|c-fixed16|rust|javascript|st|plcopen|sql|onnx|sklearn|csv|markdown"


@dataclass(frozen=True)
class Command:
    """Write a policy as a program, a query, a table or a model; checked before it is written.

    The export must decide as the policy does on 20,000 random observations, on those one float
    away from each threshold and on some with NaN, or nothing is written. Test vectors that meet
    both outcomes of every comparison are written too.
    """

    policy: Annotated[str, positional("POLICY")]
    """The policy file, or the directory of a run."""
    to: Annotated[
        Literal[
            "python",
            "c",
            "c-fixed",
            "c-fixed16",
            "rust",
            "javascript",
            "st",
            "plcopen",
            "sql",
            "onnx",
            "sklearn",
            "csv",
            "markdown",
        ],
        option(NAMES),
    ]
    """What to write: a Python function; C99 with a header and a self-test; C99 in whole numbers
    of 32 or 16 bits; a Rust module without std; a JavaScript module; an IEC 61131-3 function
    block in Structured Text, or in PLCopen XML; a SQL query; an ONNX model; a scikit-learn tree
    for joblib.load; the rules as a table in CSV or Markdown."""
    out: Annotated[str, option("FILE")]
    """The file to write; for C, FILE.c and FILE.h."""
    vectors: Annotated[str | None, option("FILE|none")] = None
    """Where test vectors go; NAME.vectors.csv next to FILE if not said; none: nowhere."""
    unchecked: bool = False
    """Write it without checking it, if a C compiler, rustc, Node.js or onnxruntime is missing."""
    json: bool = False
    """Print one JSON object: the files and on how many observations they were checked."""

    def run(self) -> None:
        from crisptree.commands.shared import loaded
        from crisptree.export import export
        from crisptree.export.states import RANDOM_STATES

        tree = loaded(self.policy)
        self._check_suffix()
        written = export(
            tree,
            self.to,
            self.out,
            count=0 if self.unchecked else RANDOM_STATES,
            vectors_to=self._vectors_file(),
        )
        files = [str(file) for file in written.files]
        if self.json:
            print(json.dumps({"files": files, "checked_states": written.states}))
            return
        checked = f"decides as the policy on {written.states:,} observations"
        print(f"wrote {', '.join(files)}: {'not checked' if self.unchecked else checked}")

    def _check_suffix(self) -> None:
        """Refuses the suffix of another export; one that is unknown is only spoken of."""
        from crisptree.base.errors import CrisptreeError
        from crisptree.base.text import printable
        from crisptree.export import TARGETS

        suffix, target = Path(self.out).suffix, TARGETS[self.to]
        if suffix in target.suffixes:
            return
        endings = f"files of {target.language} end in {' or '.join(target.suffixes)}"
        others = [other.language for other in TARGETS.values() if suffix in other.suffixes]
        if others:
            shown = printable(self.out)
            raise CrisptreeError(f"--out {shown} is a name for {others[0]}; {endings}")
        print(f"note: {endings}", file=sys.stderr)

    def _vectors_file(self) -> str | None:
        """Where test vectors go; None if nowhere."""
        from crisptree.base.errors import CrisptreeError
        from crisptree.export import TARGETS

        if not TARGETS[self.to].has_vectors:
            if self.vectors not in (None, "none"):
                raise CrisptreeError(
                    f"a table in {TARGETS[self.to].language} is not run, so it has no "
                    "test vectors; --to python or another program has"
                )
            return None
        if self.vectors == "none":
            return None
        return self.vectors or str(Path(self.out).with_suffix(".vectors.csv"))
