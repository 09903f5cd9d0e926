import json
import sys
from pathlib import Path

import pytest

from crisptree import cli
from crisptree.crisp import Actions, CrispTree, Feature

sys.path.insert(0, str(Path(__file__).parents[1] / "explain"))
from games import IDLE, RIGHT, guess


@pytest.fixture(autouse=True)
def policies(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    RIGHT.save("right.json")
    IDLE.save("idle.json")
    guess(("telling", 0.8, "high", "low")).save("late.json")


def run(capsys, *arguments):
    try:
        cli.main(["compare", *arguments])
        code = 0
    except SystemExit as stop:
        code = stop.code
    return code, capsys.readouterr().out


def test_the_same_function(capsys):
    expected = (0, "the same action for every observation\n")
    assert run(capsys, "right.json", "idle.json", "--episodes", "0") == expected


def test_where_they_differ(capsys):
    code, out = run(capsys, "right.json", "late.json", "--episodes", "10")
    assert code == 1
    assert out.startswith("right.json: return 6.0; in ")
    assert "they differ in 1 region:\n" in out
    assert out.endswith("high   low     0.5 < telling ≤ 0.8\n")


def test_json(capsys):
    code, out = run(capsys, "right.json", "late.json", "--json", "--episodes", "3")
    told = json.loads(out)
    assert code == 1 and told["first_return"] == 6.0 and told["same"] is False
    code, out = run(capsys, "right.json", "late.json", "--json", "--episodes", "0")
    assert json.loads(out)["first_share"] is None


def test_only_so_many_regions(capsys):
    guess(("idle", 0.1, ("idle", 0.2, 0, 1), ("idle", 0.05, 1, 0))).save("stripes.json")
    out = run(capsys, "right.json", "stripes.json", "--episodes", "0", "--most", "1")[1]
    assert out.rstrip().splitlines()[-1].startswith("… and ")


def test_real_numbers(capsys):
    torque = Actions.box(("torque",), (-2.0,), (2.0,))
    for name, value in (("one.json", 1.0), ("two.json", 1.5)):
        nested = ("x", 0.25, [value], [-1.0])
        CrispTree.from_nested(nested, ("x",), actions=torque).save(name)
    out = run(capsys, "one.json", "two.json", "--episodes", "0")[1]
    assert out.splitlines()[-1].split("  ")[-3:] == ["torque = 1", "torque = 1.5", "x > 0.25"]


def test_flags(capsys):
    features = (Feature("contact", "flag"),)
    for name, action in (("one.json", 0), ("two.json", 1)):
        nested = ("contact", 0.5, action, 0)
        CrispTree.from_nested(nested, features=features, action_names=("a", "b")).save(name)
    out = run(capsys, "one.json", "two.json", "--episodes", "0")[1]
    assert out.splitlines()[-1].endswith("contact: yes")


def test_directories_of_runs(capsys, tmp_path):
    (tmp_path / "run").mkdir()
    RIGHT.save(tmp_path / "run" / "policy.json")
    assert run(capsys, "run", "right.json", "--episodes", "0")[0] == 0
