"""`crisptree sweep` on an environment that is none of the paper's."""

import json
import os
import subprocess
import sys

import pytest

from crisptree import cli


def test_a_sweep_reports_without_a_paper(tmp_path):
    command = [sys.executable, "-m", "crisptree.cli", "sweep", "Acrobot-v1", "--out", str(tmp_path)]
    command += ["--models", "mlp", "random", "--layers", "0", "--seeds", "2", "--steps", "10000"]
    command += ["--learning-rates", "0.01", "0.001", "--episodes", "2", "--json"]
    environment = {**os.environ, "JAX_DISABLE_MOST_OPTIMIZATIONS": "true"}
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    domain = json.loads(run.stdout)["domains"]["acrobot-v1"]
    assert {g["learning_rate"] for g in domain["sweep"] if g["row"] == "mlp"} == {0.01, 0.001}
    assert all(row["paper"] is None for row in domain["table"])
    assert "paper" not in (tmp_path / "report.md").read_text().split("\n\n")[2]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["NoSuch-v0"], "no environment 'NoSuch-v0'"),
        (["CartPole-v1", "--models", "linear-rule"], "linear-rule is for real actions"),
        (["CartPole-v1", "--rules", "0"], "rules must be at least 1"),
    ],
)
def test_mistakes_are_one_line(tmp_path, monkeypatch, capsys, arguments, says):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stop:
        cli.main(["sweep", *arguments])
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert says in said and said.count("\n") == 1
