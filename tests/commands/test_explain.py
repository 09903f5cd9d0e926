import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from crisptree import cli
from crisptree.crisp import Actions, CrispTree, Feature

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
    assert told["scale"] is None and told["action"] == "high" and told["values"] == 1
    assert told["changes"][0]["observation"] == [0.5, -0.2]
    CrispTree.leaf(0, ("a",), ("x",)).save("leaf.json")
    cli.main(["explain", "leaf.json", "--at", "1"])
    assert capsys.readouterr().out.endswith("none: every observation leads to this action\n")


@pytest.mark.parametrize(
    ("env_id", "arguments", "message"),
    [
        (None, [], "the policy does not name its environment: give one with --env"),
        (
            "os:Guess-v0",
            [],
            "the policy names 'os:Guess-v0', and a policy file never makes crisptree",
        ),
        ("Guess-v0", ["--at", "1"], "--at takes 2 finite numbers, one a feature, not (1.0,)"),
        ("Guess-v0", ["--episodes", "0"], "--episodes is 0; it must lie in 1 … 10000"),
        ("CartPole-v1", [], "the policy has 2 features, 'CartPole-v1' has 4"),
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


FEATURES = (Feature("contact", "flag"), Feature("colour", "category", 0.0, 1.0, ("red", "blue")))


def saved(tree, path="policy.json"):
    tree.save(path)
    return path


def test_a_decision_about_flags(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    nested = ("contact", 0.456, ("colour", 0.5, "stay", "go"), "go")
    saved(CrispTree.from_nested(nested, features=FEATURES, action_names=("stay", "go")))
    cli.main(["explain", "policy.json", "--at", "1", "1"])
    assert capsys.readouterr().out == (
        "stay, because\n  contact: yes\n  colour is blue\n\n"
        "The smallest changes that would change it (numbers as they are):\n"
        "  go: colour blue → red (distance 1)\n"
    )


def test_a_decision_of_a_linear_leaf(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    torque = Actions.box(("torque",), (-2.0,), (2.0,))
    nested = ("angle", 0.0, {"torque": (0.5, {"velocity": -3.0})}, [2.0])
    saved(CrispTree.from_nested(nested, ("angle", "velocity"), actions=torque))
    cli.main(["explain", "policy.json", "--at", "1", "0.25"])
    assert capsys.readouterr().out == (
        "torque = -0.25, because\n"
        "  torque = 0.5 - 3·velocity, between -2 and 2\n"
        "  angle > 0: it is 1, 1 away\n\n"
        "The smallest changes that would change it (numbers as they are):\n"
        "  torque = 2: angle 1.0 → 0.0 (distance 1)\n"
    )
    cli.main(["explain", "policy.json", "--at", "1", "0.25", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["values"] == [-0.25]
    assert told["action"] == {"torque": {"constant": 0.5, "gains": {"velocity": -3.0}}}
    assert told["changes"][0]["action"] == {"torque": 2.0}


def test_only_so_many_changes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    torque = Actions.box(("torque",), (0.0,), (9.0,))
    nested: object = [0.0]
    for at in range(1, 9):
        nested = ("x", float(at), [float(at)], nested)
    saved(CrispTree.from_nested(nested, ("x",), actions=torque))
    cli.main(["explain", "policy.json", "--at", "0", "--most", "3"])
    lines = capsys.readouterr().out.splitlines()
    assert len([line for line in lines if "distance" in line]) == 3
    assert lines[-1] == "  … and 5 more"
