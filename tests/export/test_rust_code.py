import shutil
import subprocess

import numpy as np
import pytest
from export_trees import HOSTILE, HOSTILE_NAMES, KINDS, ODD, grown

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.export import as_rust, check, programs
from crisptree.export.programs import in_rust

needs_rust = pytest.mark.skipif(shutil.which("rustc") is None, reason="no rustc")

BODY = """\
/// The number of the action for one observation.
#[allow(clippy::all)]
pub fn action(x: &[f64; 1]) -> i64 {
    if x[0] > 1e-07 { // angle
        return 1; // right
    }
    0 // left
}
"""


def test_the_source():
    tree = CrispTree.from_nested(("angle", 1e-7, 1, 0), ("angle",), ("left", "right"))
    assert BODY in as_rust(tree)


@needs_rust
@pytest.mark.parametrize("tree", [*ODD.values(), KINDS["hostile formulas"]])
def test_odd_trees(tree):
    assert check(tree, in_rust(as_rust(tree)), np.float64, 2000) >= 2000


@needs_rust
def test_names_stay_names(tmp_path):
    (tmp_path / "policy.rs").write_text(as_rust(HOSTILE), encoding="utf-8")
    (tmp_path / "main.rs").write_text(
        "#[allow(dead_code)] mod policy;\n"
        'fn main() { for name in policy::ACTIONS.iter() { print!("{}\\u{1}", name); } }\n'
    )
    subprocess.run(["rustc", "main.rs"], cwd=tmp_path, check=True, capture_output=True)
    said = subprocess.run(["./main"], cwd=tmp_path, check=True, capture_output=True).stdout
    assert said.decode() == "".join(f"{name}\x01" for name in HOSTILE_NAMES)


@needs_rust
def test_another_threshold_fails_the_module_s_own_test():
    tree = grown(8, 1)
    node = int(np.flatnonzero(tree.feature >= 0)[0])
    moved = float(np.nextafter(np.float32(tree.threshold[node]), np.float32(np.inf)))
    source = as_rust(tree).replace(f"> {float(tree.threshold[node])!r}", f"> {moved!r}")
    with pytest.raises(CrisptreeError, match="failed its check"):
        in_rust(source)


def test_no_compiler(monkeypatch):
    monkeypatch.setattr(programs.shutil, "which", lambda name: None)
    with pytest.raises(CrisptreeError, match=r"a Rust compiler .*--unchecked"):
        in_rust(as_rust(grown(2, 0)))
