import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from crisptree import cli
from crisptree.crisp import CrispTree

sys.path.insert(0, str(Path(__file__).parents[1] / "explain"))
from games import IDLE, RIGHT


@pytest.fixture
def policy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    IDLE.save("policy.json")
    return "policy.json"


def test_importance(policy, capsys):
    cli.main(["explain", policy, "--episodes", "10"])
    out = capsys.readouterr().out
    assert out.startswith("return 6.0 over 10 episodes, 60 states\n")
    assert "\nidle     50.0%        0.0 ± 0.0\n" in out
    assert "idle > 0.3     60" in out


def test_importance_as_json(policy, capsys):
    cli.main(["explain", policy, "--episodes", "2", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["episodes"] == 2 and len(told["splits"]) == 3


def test_one_decision(policy, capsys):
    cli.main(["explain", policy, "--at", "0.6", "0.2", "--episodes", "5"])
    out = capsys.readouterr().out
    assert out.startswith(
        "high, because\n  idle ≤ 0.3: it is 0.2, 0.1 away\n  telling > 0.5: it is 0.6, 0.1 away\n"
    )
    assert "  low: telling 0.6 → 0.5 (distance 0." in out


def test_one_decision_without_an_environment(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    replace(RIGHT, env_id=None).save("policy.json")
    cli.main(["explain", "policy.json", "--at", "0.6", "-0.2", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["scale"] is None and told["action"] == "high"
    assert told["changes"][0]["observation"] == [0.5, -0.2]
    CrispTree.leaf(0, ("a",), ("x",)).save("leaf.json")
    cli.main(["explain", "leaf.json", "--at", "1"])
    assert capsys.readouterr().out.endswith("none: every observation leads to this action\n")


@pytest.mark.parametrize(
    ("env_id", "arguments", "message"),
    [
        (None, [], "the policy names no environment; --env ENV would"),
        ("os:Guess-v0", [], "the policy's environment, os:Guess-v0, would import a module"),
        ("Guess-v0", ["--at", "1"], "--at takes 2 numbers, one a feature; it has 1"),
        ("Guess-v0", ["--episodes", "0"], "--episodes is 0; it must lie in 1 … 10000"),
        ("CartPole-v1", [], "the policy has 2 features and 2 actions, 'CartPole-v1' has 4 and 2"),
    ],
)
def test_mistakes(tmp_path, monkeypatch, capsys, env_id, arguments, message):
    monkeypatch.chdir(tmp_path)
    replace(RIGHT, env_id=env_id).save("policy.json")
    with pytest.raises(SystemExit) as stop:
        cli.main(["explain", "policy.json", *arguments])
    assert stop.value.code == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith(f"crisptree: {message}")
