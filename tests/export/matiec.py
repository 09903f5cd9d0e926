"""Structured Text in matiec, the open IEC 61131-3 compiler, where `iec2c` is installed.

It is looked for on PATH, its library in the folder that MATIEC_LIB names.
"""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np

from crisptree.export.structured_text import Block

LIBRARY = os.environ.get("MATIEC_LIB", "/usr/lib/matiec")
FOUND = shutil.which("iec2c") is not None and Path(LIBRARY).is_dir()

MAIN = """\
#include <stdio.h>
#include "iec_std_lib.h"
#include "POUS.h"
TIME __CURRENT_TIME;
BOOL __DEBUG;
#include "POUS.c"

int main(void)
{{
    {block} block;
    double x[{inputs}];
    {block}_init__(&block, 0);
    while (fread(x, sizeof *x, {inputs}, stdin) == {inputs}) {{
        double y[{outputs}];
{given}
        {block}_body__(&block);
{taken}
        fwrite(y, sizeof *y, {outputs}, stdout);
    }}
    return 0;
}}
"""


def run(block: Block, states: np.ndarray, folder: Path) -> np.ndarray:
    """The outputs of the block that matiec and a C compiler make, for each row."""
    (folder / "policy.st").write_text(block.text)
    subprocess.run(
        ["iec2c", "-I", LIBRARY, "-T", str(folder), "policy.st"],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    lines = {
        "given": [
            f"        __SET_VAR(block., {name.upper()},, x[{at}]);"
            for at, (name, _, _) in enumerate(block.inputs)
        ],
        "taken": [
            f"        y[{at}] = __GET_VAR(block.{name.upper()},);"
            for at, (name, _, _) in enumerate(block.outputs)
        ],
    }
    (folder / "main.c").write_text(
        MAIN.format(
            block=block.name.upper(),
            inputs=len(block.inputs),
            outputs=len(block.outputs),
            given="\n".join(lines["given"]),
            taken="\n".join(lines["taken"]),
        )
    )
    include = [f"-I{LIBRARY}/C", f"-I{LIBRARY}", "-I."]
    command = ["gcc", "-std=gnu99", "-ffp-contract=off", "-w", *include, "main.c", "-o", "program"]
    subprocess.run([*command, "-lm"], cwd=folder, check=True, capture_output=True)
    given = states.astype(np.float64).tobytes()
    done = subprocess.run(["./program"], cwd=folder, input=given, capture_output=True, check=True)
    return np.frombuffer(done.stdout).reshape(len(states), -1)
