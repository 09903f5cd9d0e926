"""What other programs make of an export: a C compiler's, Node's."""

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError
from crisptree.export.c_code import CSource

COMPILERS = ("cc", "gcc", "clang")
STRICT = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic")
SECONDS = 300

Decider = Callable[[NDArray], NDArray[np.int64]]

# Reads observations from standard input until it ends, writes one int a row.
C_LOOP = """\
#include <stdio.h>
#include "{stem}.h"

int main(void)
{{
    static {upper}_REAL x[{upper}_FEATURES];
    while (fread(x, sizeof *x, {upper}_FEATURES, stdin) == {upper}_FEATURES) {{
        int action = {name}_action(x);
        if (fwrite(&action, sizeof action, 1, stdout) != 1)
            return 1;
    }}
    return 0;
}}
"""

NODE_LOOP = """\
import { readFileSync, writeFileSync } from "node:fs";
import { act, features } from "./policy.mjs";
const bytes = readFileSync("states");
const numbers = new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8);
const actions = new Int32Array(numbers.length / features.length);
for (let row = 0; row < actions.length; row++) {
  actions[row] = act(numbers.subarray(row * features.length, (row + 1) * features.length));
}
writeFileSync("actions", actions);
"""


def compiled(code: CSource) -> Decider:
    """The C function, compiled without a warning, for observations of float64 or of float32. The
    self-test passes for both, or this does not return."""
    compiler = _program(COMPILERS, "a C compiler")
    for real in ("double", "float"):
        with tempfile.TemporaryDirectory() as folder:
            _compile(compiler, code, folder, real, f"{code.name.upper()}_SELF_TEST")
            _run(["./program"], folder)

    def decide(states: NDArray) -> NDArray[np.int64]:
        real = {"f": "float", "d": "double"}[states.dtype.char]
        loop = C_LOOP.format(stem=code.stem, name=code.name, upper=code.name.upper())
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "loop.c").write_text(loop)
            _compile(compiler, code, folder, real, "NDEBUG", "loop.c")
            answer = _run(["./program"], folder, np.ascontiguousarray(states).tobytes())
        return np.frombuffer(answer, np.int32).astype(np.int64)

    return decide


def in_node(source: str) -> Decider:
    """The JavaScript function, in Node."""
    node = _program(("node", "nodejs"), "Node.js")

    def decide(states: NDArray) -> NDArray[np.int64]:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "policy.mjs").write_text(source, encoding="utf-8")
            (Path(folder) / "loop.mjs").write_text(NODE_LOOP, encoding="utf-8")
            (Path(folder) / "states").write_bytes(states.astype(np.float64).tobytes())
            _run([node, "loop.mjs"], folder)
            return np.fromfile(Path(folder) / "actions", np.int32).astype(np.int64)

    return decide


def _compile(
    compiler: str, code: CSource, folder: str, real: str, define: str, *others: str
) -> None:
    (Path(folder) / f"{code.stem}.h").write_text(code.header, encoding="utf-8")
    (Path(folder) / f"{code.stem}.c").write_text(code.source, encoding="utf-8")
    defines = [f"-D{code.name.upper()}_REAL={real}", f"-D{define}"]
    _run([compiler, *STRICT, *defines, "-o", "program", f"{code.stem}.c", *others], folder)


def _run(command: Sequence[str], folder: str, given: bytes = b"") -> bytes:
    done = subprocess.run(command, cwd=folder, input=given, capture_output=True, timeout=SECONDS)
    if done.returncode:
        said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
        raise RuntimeError(f"the export failed its check: {' '.join(command)}: {said}")
    return done.stdout


def _program(names: Sequence[str], what: str) -> str:
    for name in names:
        found = shutil.which(name)
        if found:
            return found
    raise CrisptreeError(
        f"{what} ({' or '.join(names)}) is needed to check the export; install one, "
        "or write it with --unchecked"
    )
