"""Run exports with other programs: a C compiler, rustc, Node."""

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError
from crisptree.base.text import printable
from crisptree.export.c_text import CSource, call_of

COMPILERS = ("cc", "gcc", "clang")
STRICT = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic")
RUST = ("--edition", "2021", "-D", "warnings")
C_TYPES = {"double": np.float64, "int": np.int32, "int16_t": np.int16, "int32_t": np.int32}
SECONDS = 300
LONGEST_WHY = 300

Decider = Callable[[NDArray], NDArray]

# Reads observations from standard input until it ends, writes the numbers of each action.
C_LOOP = """\
#include <stdio.h>
#include "{stem}.h"

int main(void)
{{
    static {real} x[{upper}_FEATURES];
    {value} action[{upper}_VALUES];
    while (fread(x, sizeof *x, {upper}_FEATURES, stdin) == {upper}_FEATURES) {{
        {call};
        if (fwrite(action, sizeof *action, {upper}_VALUES, stdout) != {upper}_VALUES)
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
const actions = [];
for (let at = 0; at < numbers.length; at += features.length) {
  actions.push(...[act(numbers.subarray(at, at + features.length))].flat());
}
writeFileSync("actions", new Float64Array(actions));
"""

RUST_LOOP = """\
mod policy;
use std::io::{Read, Write};

fn main() {
    let (mut bytes, mut answer) = (Vec::new(), Vec::new());
    std::io::stdin().read_to_end(&mut bytes).unwrap();
    for row in bytes.chunks_exact(8 * policy::FEATURES.len()) {
        let mut x = [0.0; policy::FEATURES.len()];
        for (value, eight) in x.iter_mut().zip(row.chunks_exact(8)) {
            *value = f64::from_le_bytes(eight.try_into().unwrap());
        }
        let action = policy::action(&x);
        for value in VALUES {
            answer.extend_from_slice(&(value as f64).to_le_bytes());
        }
    }
    std::io::stdout().write_all(&answer).unwrap();
}
"""
RUST_BARE = "#![no_std]\n#![forbid(unsafe_code)]\npub mod policy;\n"


def compiled(code: CSource) -> Decider:
    """The C function for observations of float64 or of float32; see `compiled_for`."""
    deciders = {
        real: compiled_for(code, real, (f"-D{code.upper}_REAL={real}",))
        for real in ("double", "float")
    }
    return lambda states: deciders[{"f": "float", "d": "double"}[states.dtype.char]](states)


def compiled_for(code: CSource, real: str, options: Sequence[str] = ()) -> Decider:
    """The C function for observations made of `real`, compiled without a warning. Its self-test
    passes, or this does not return."""
    compiler = _program(COMPILERS, "a C compiler")
    call = call_of(code.name, "x", code.is_vector)
    loop = C_LOOP.format(stem=code.stem, upper=code.upper, real=real, value=code.value, call=call)
    files = {f"{code.stem}.h": code.header, f"{code.stem}.c": code.source, "loop.c": loop}
    build = [compiler, *STRICT, *options, f"{code.stem}.c"]
    with tempfile.TemporaryDirectory() as folder:
        _write(folder, files)
        _run([*build, f"-D{code.upper}_SELF_TEST", "-o", "self-test"], folder)
        _run(["./self-test"], folder)
        _run([*build, "loop.c", "-o", "program"], folder)
        program = (Path(folder) / "program").read_bytes()

    def decide(states: NDArray) -> NDArray:
        answer = _answer(program, np.ascontiguousarray(states).tobytes())
        return np.frombuffer(answer, C_TYPES[code.value]).reshape(-1, code.n_values)

    return decide


def in_rust(source: str) -> Decider:
    """The Rust function. The module compiles without `std` and without a warning and its own test
    passes, or this does not return."""
    rustc = _program(("rustc",), "a Rust compiler")
    main = RUST_LOOP.replace("VALUES", "action" if "-> [" in source else "[action]")
    files = {"policy.rs": source, "bare.rs": RUST_BARE, "test.rs": "mod policy;", "main.rs": main}
    with tempfile.TemporaryDirectory() as folder:
        _write(folder, files)
        _run([rustc, *RUST, "--crate-type", "lib", "--emit", "metadata", "bare.rs"], folder)
        _run([rustc, *RUST, "--test", "-o", "self-test", "test.rs"], folder)
        _run(["./self-test"], folder)
        _run([rustc, *RUST, "-O", "-o", "program", "main.rs"], folder)
        program = (Path(folder) / "program").read_bytes()

    def decide(states: NDArray) -> NDArray:
        answer = _answer(program, states.astype("<f8").tobytes())
        return np.frombuffer(answer, "<f8").reshape(len(states), -1)

    return decide


def in_node(source: str) -> Decider:
    """The JavaScript function, in Node."""
    node = _program(("node", "nodejs"), "Node.js")

    def decide(states: NDArray) -> NDArray:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "policy.mjs").write_text(source, encoding="utf-8")
            (Path(folder) / "loop.mjs").write_text(NODE_LOOP, encoding="utf-8")
            (Path(folder) / "states").write_bytes(states.astype(np.float64).tobytes())
            _run([node, "loop.mjs"], folder)
            return np.fromfile(Path(folder) / "actions").reshape(len(states), -1)

    return decide


def _write(folder: str, files: Mapping[str, str]) -> None:
    for name, content in files.items():
        (Path(folder) / name).write_text(content, encoding="utf-8")


def _answer(program: bytes, given: bytes) -> bytes:
    """The output of a program for an input."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program"
        path.write_bytes(program)
        path.chmod(0o700)
        return _run(["./program"], folder, given)


def _run(command: Sequence[str], folder: str, given: bytes = b"") -> bytes:
    try:
        done = subprocess.run(
            command, cwd=folder, input=given, capture_output=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        raise CrisptreeError(
            f"checking the export took {command[0]} more than {SECONDS} s; "
            "--unchecked writes it without"
        ) from None
    if done.returncode:
        said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
        # A compiler that is not whole fails as well, so this need not be a fault of the export.
        why = printable(next((line for line in said.splitlines() if "error" in line), said))
        raise CrisptreeError(
            f"the export failed its check: {Path(command[0]).name}: {why[:LONGEST_WHY]}; "
            "--unchecked writes it without"
        )
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
