import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from crisptree import cli
from crisptree.crisp import Actions, CrispTree
from crisptree.export import TARGETS

TREE = CrispTree.from_nested(("angle", 0.25, "right", "left"), ("angle",), ("left", "right"))
TORQUE = CrispTree.from_nested(
    ("angle", 0.25, [(0.5, {"angle": -1.0})], [1.0]),
    ("angle",),
    actions=Actions.box(("torque",), (-2.0,), (2.0,)),
)


@pytest.fixture
def policy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    TREE.save("policy.json")
    return "policy.json"


def refused(capsys, *arguments):
    """The one line that says why the command was refused."""
    with pytest.raises(SystemExit) as stop:
        cli.main(["export", *arguments])
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("crisptree: ") and said.count("\n") == 1
    return said


def test_python(policy, capsys):
    cli.main(["export", policy, "--to", "python", "--out", "pole.py"])
    assert capsys.readouterr().out == (
        "wrote pole.py, pole.vectors.csv: decides as the policy on 40,522 observations\n"
    )
    program = "from pole import ACTIONS, act; print(ACTIONS[act([0.3])], ACTIONS[act([0.25])])"
    done = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True)
    assert done.stdout == b"right left\n"
    assert Path("pole.vectors.csv").read_text() == (
        "node,side,angle,action\n"
        "0,below,0.24999999999999997,0\n0,at,0.25,0\n0,above,0.25000000000000006,1\n"
    )


def test_json(policy, capsys):
    cli.main(["export", policy, "--to", "onnx", "--out", "pole.onnx", "--json"])
    said = json.loads(capsys.readouterr().out)
    assert said == {"files": ["pole.onnx", "pole.vectors.csv"], "checked_states": 20_261}


def test_sklearn(policy):
    import joblib

    cli.main(["export", policy, "--to", "sklearn", "--out", "pole.joblib"])
    classifier = joblib.load("pole.joblib")
    assert classifier.predict(np.array([[0.3], [0.2]])).tolist() == [1, 0]


def test_unchecked_c_needs_no_compiler(policy, monkeypatch, capsys):
    monkeypatch.setenv("PATH", "")
    said = refused(capsys, policy, "--to", "c", "--out", "pole.c")
    assert "a C compiler (cc or gcc or clang) is needed" in said
    cli.main(["export", policy, "--to", "c", "--out", "pole.c", "--unchecked"])
    assert capsys.readouterr().out == "wrote pole.c, pole.h, pole.vectors.csv: not checked\n"


@pytest.mark.parametrize("target", TARGETS)
def test_the_command_knows_every_target(target, policy, capsys):
    out = f"pole{TARGETS[target].suffixes[0]}"
    cli.main(["export", policy, "--to", target, "--out", out, "--unchecked"])
    assert capsys.readouterr().out.startswith(f"wrote {out}")
    assert Path(out).stat().st_size > 0


@pytest.mark.parametrize("target", [name for name in TARGETS if name != "sklearn"])
def test_linear_leaves(target, policy, capsys):
    TORQUE.save("torque.json")
    cli.main(["export", "torque.json", "--to", target, "--out", "torque", "--unchecked"])
    assert "wrote torque" in capsys.readouterr().out


def test_what_a_target_cannot_say(policy, capsys):
    TORQUE.save("torque.json")
    said = refused(capsys, "torque.json", "--to", "sklearn", "--out", "torque.joblib")
    assert "scikit-learn's trees have constant leaves" in said


def test_the_folder_of_a_run(policy, capsys):
    Path("runs").mkdir()
    TREE.save("runs/policy.json")
    cli.main(["export", "runs", "--to", "st", "--out", "pole.st"])
    assert capsys.readouterr().out.startswith("wrote pole.st, pole.vectors.csv")
    Path("empty").mkdir()
    assert "is a directory without a policy.json" in refused(
        capsys, "empty", "--to", "st", "--out", "pole.st"
    )


def test_an_unusual_ending_is_said(policy, capsys):
    cli.main(["export", policy, "--to", "rust", "--out", "pole.txt", "--unchecked"])
    said = capsys.readouterr()
    assert said.err == "note: files of Rust end in .rs\n"
    assert said.out.startswith("wrote pole.txt")


def test_the_ending_of_another_language_is_refused(policy, capsys):
    said = refused(capsys, policy, "--to", "c", "--out", "pole.py")
    assert "--out pole.py is a name for Python; files of C end in .c or .h" in said
    assert not Path("pole.c").exists() and not Path("pole.py").exists()


def test_where_the_vectors_go(policy, capsys):
    cli.main(["export", policy, "--to", "python", "--out", "a.py", "--vectors", "tests.csv"])
    assert capsys.readouterr().out.startswith("wrote a.py, tests.csv:")
    cli.main(["export", policy, "--to", "python", "--out", "b.py", "--vectors", "none"])
    assert capsys.readouterr().out.startswith("wrote b.py:")
    assert not Path("b.vectors.csv").exists()
    said = refused(capsys, policy, "--to", "csv", "--out", "c.csv", "--vectors", "tests.csv")
    assert "it has no test vectors" in said
    said = refused(capsys, policy, "--to", "sql", "--out", "d.sql", "--vectors", "d.sql")
    assert "d.sql is the export itself" in said
