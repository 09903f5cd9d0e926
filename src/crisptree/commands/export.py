"""`crisptree export`: a policy as a program or a model that runs without crisptree."""

import json
from dataclasses import dataclass
from typing import Annotated, Literal

import tyro


@dataclass(frozen=True)
class Command:
    """Write a policy as Python, C, JavaScript, ONNX or scikit-learn; checked before it is written.

    The export must decide as the policy does on 20,000 random observations and on those one float
    away from each threshold, or nothing is written.
    """

    policy: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="POLICY")]
    """The policy file."""
    to: Annotated[
        Literal["python", "c", "javascript", "onnx", "sklearn"],
        tyro.conf.arg(metavar="python|c|javascript|onnx|sklearn"),
    ]
    """What to write: a Python function; C99 with a header and a self-test; a JavaScript module; an
    ONNX model; a scikit-learn DecisionTreeClassifier for joblib.load."""
    out: Annotated[str, tyro.conf.arg(metavar="FILE")]
    """The file to write; for C, FILE.c and FILE.h."""
    unchecked: bool = False
    """Write it without trying it out, for want of a C compiler, Node.js or onnxruntime."""
    json: bool = False
    """Print one JSON object: the files and on how many observations they were checked."""

    def run(self) -> None:
        from crisptree.commands.shared import loaded
        from crisptree.export import export
        from crisptree.export.states import RANDOM_STATES

        tree = loaded(self.policy)
        written = export(tree, self.to, self.out, count=0 if self.unchecked else RANDOM_STATES)
        files = [str(file) for file in written.files]
        if self.json:
            print(json.dumps({"files": files, "checked_states": written.states}))
            return
        checked = f"decides as the policy on {written.states:,} observations"
        print(f"{', '.join(files)}: {'not checked' if self.unchecked else checked}")
