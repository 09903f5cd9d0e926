import shutil
import subprocess

import numpy as np
import pytest
from export_trees import EVERY, HOSTILE, HOSTILE_NAMES, grown

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.export import as_c, check
from crisptree.export.c_text import prefix
from crisptree.export.programs import compiled

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")

BODY = """\
int pole_action(const POLE_REAL x[POLE_FEATURES])
{
    if (x[0] > 0x1.0000000000000p-2) { /* angle > 0.25 */
        return 1; /* right */
    }
    return 0; /* left */
}
"""


def build(tree, folder, main, *flags):
    code = as_c(tree, "pole")
    (folder / "pole.h").write_text(code.header, encoding="utf-8")
    (folder / "pole.c").write_text(code.source, encoding="utf-8")
    (folder / "main.c").write_text(main)
    strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"]
    command = ["gcc", *strict, *flags, "-o", "program", "pole.c", "main.c"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return subprocess.run(["./program"], cwd=folder, capture_output=True)


def test_the_source():
    tree = CrispTree.from_nested(("angle", 0.25, 1, 0), ("angle",), ("left", "right"))
    assert BODY in as_c(tree, "pole").source


@needs_gcc
@pytest.mark.parametrize("tree", EVERY.values(), ids=EVERY)
def test_odd_trees_compile_without_a_warning_and_decide_alike(tree):
    decide = compiled(as_c(tree))
    assert check(tree, decide, np.float64, 2000) >= 2000
    assert check(tree, decide, np.float32, 2000) >= 2000


@needs_gcc
def test_names_stay_names(tmp_path):
    main = (
        '#include <stdio.h>\n#include <string.h>\n#include "pole.h"\n'
        "int main(void) { for (int i = 0; i < POLE_ACTIONS; i++) "
        "fwrite(pole_action_names[i], 1, strlen(pole_action_names[i]) + 1, stdout); return 0; }\n"
    )
    said = build(HOSTILE, tmp_path, main).stdout
    # A C string ends at its first NUL, which one of the names has inside.
    assert said == b"".join(name.encode().split(b"\0")[0] + b"\0" for name in HOSTILE_NAMES)


@needs_gcc
@pytest.mark.parametrize("real", ["double", "float"])
def test_the_self_test_passes_and_notices_another_threshold(tmp_path, real):
    tree = grown(8, 1)
    flags = ["-DPOLE_SELF_TEST", f"-DPOLE_REAL={real}"]
    right = build(tree, tmp_path, "", *flags[1:], flags[0], "-Wno-pedantic")
    assert right.returncode == 0 and b" cases right" in right.stdout
    code = as_c(tree, "pole").source
    node = int(np.flatnonzero(tree.feature >= 0)[0])
    moved = float(np.nextafter(np.float32(tree.threshold[node]), np.float32(np.inf)))
    assert moved > tree.threshold[node]
    faulty = code.replace(f"> {float(tree.threshold[node]).hex()})", f"> {moved.hex()})")
    assert faulty != code
    (tmp_path / "pole.c").write_text(faulty)
    subprocess.run(["gcc", "-std=c99", *flags, "pole.c", "-o", "program"], cwd=tmp_path, check=True)
    assert subprocess.run(["./program"], cwd=tmp_path, capture_output=True).returncode == 1


@pytest.mark.parametrize(
    ("text", "name"),
    [("cart-pole.v1", "cart_pole_v1"), ("1", "policy_x1"), ("_", "policy"), ("_a_", "a")],
)
def test_prefixes(text, name):
    assert prefix(text) == name


def test_a_file_name_that_would_end_the_include():
    with pytest.raises(CrisptreeError, match="no file name for C"):
        as_c(grown(2, 0), 'a"b')
