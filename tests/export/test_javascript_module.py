import json
import shutil
import subprocess
from importlib.metadata import version

import numpy as np
import pytest
from export_trees import EVERY, HOSTILE, HOSTILE_NAMES

from crisptree.crisp import CrispTree
from crisptree.export import as_javascript, check
from crisptree.export.programs import in_node

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="no Node.js")


def test_the_source():
    tree = CrispTree.from_nested(("angle", 1e-7, 1, 0), ("angle",), ("left", "right"))
    kind = "rule list" if tree.is_rule_list else "decision tree"
    assert as_javascript(tree) == (
        f"// A policy: {kind}, 2 leaves, depth 1.\n"
        "// A feature that is NaN makes every comparison with it FALSE.\n"
        f"// Written by crisptree {version('crisptree')}.\n\n"
        'export const features = [\n  "angle",\n];\n'
        'export const actions = [\n  "left",\n  "right",\n];\n\n'
        "/** The number of the action for one observation: an array or a typed array. */\n"
        "export function act(x) {\n"
        "  if (x[0] > 1e-07) { // angle\n    return 1; // right\n  }\n  return 0; // left\n}\n"
    )


@needs_node
@pytest.mark.parametrize("tree", EVERY.values(), ids=EVERY)
def test_odd_trees(tree):
    decide = in_node(as_javascript(tree))
    for dtype in (np.float64, np.float32):
        assert check(tree, decide, dtype, 2000) >= 2000


@needs_node
def test_names_stay_names(tmp_path):
    (tmp_path / "policy.mjs").write_text(as_javascript(HOSTILE), encoding="utf-8")
    program = (
        'import { features, actions } from "./policy.mjs";'
        "console.log(JSON.stringify([features, actions]));"
    )
    done = subprocess.run(
        ["node", "--input-type=module", "-e", program], cwd=tmp_path, capture_output=True
    )
    assert json.loads(done.stdout) == [list(HOSTILE_NAMES), list(HOSTILE_NAMES)]
