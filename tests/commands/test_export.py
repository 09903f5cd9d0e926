import json
import subprocess
import sys

import numpy as np
import pytest

from crisptree import cli
from crisptree.crisp import CrispTree

TREE = CrispTree.from_nested(("angle", 0.25, "right", "left"), ("angle",), ("left", "right"))


@pytest.fixture
def policy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    TREE.save("policy.json")
    return "policy.json"


def test_python(policy, capsys):
    cli.main(["export", policy, "--to", "python", "--out", "pole.py"])
    assert capsys.readouterr().out == "pole.py: decides as the policy on 40,004 observations\n"
    program = "from pole import ACTIONS, act; print(ACTIONS[act([0.3])], ACTIONS[act([0.25])])"
    done = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True)
    assert done.stdout == b"right left\n"


def test_json(policy, capsys):
    cli.main(["export", policy, "--to", "onnx", "--out", "pole.onnx", "--json"])
    said = json.loads(capsys.readouterr().out)
    assert said == {"files": ["pole.onnx"], "checked_states": 20_002}


def test_sklearn(policy):
    import joblib

    cli.main(["export", policy, "--to", "sklearn", "--out", "pole.joblib"])
    classifier = joblib.load("pole.joblib")
    assert classifier.predict(np.array([[0.3], [0.2]])).tolist() == [1, 0]


def test_unchecked_c_needs_no_compiler(policy, monkeypatch, capsys):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SystemExit) as stop:
        cli.main(["export", policy, "--to", "c", "--out", "pole.c"])
    assert stop.value.code == 2
    assert "a C compiler (cc or gcc or clang) is needed" in capsys.readouterr().err
    cli.main(["export", policy, "--to", "c", "--out", "pole.c", "--unchecked"])
    assert capsys.readouterr().out == "pole.c, pole.h: not checked\n"
