import json
import sys

import pytest

from crisptree.cli import main
from crisptree.commands.analyze import Command


def fails(capsys, *arguments) -> str:
    with pytest.raises(SystemExit) as ending:
        main(["analyze", *arguments])
    assert ending.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.strip().splitlines()) == 1
    return err


def test_tables(capsys):
    main(["analyze", "--steps", "100"])
    out, err = capsys.readouterr()
    assert "2.5347" in out
    assert "they vanish" in out
    assert "For the figures: --out DIR" in out
    assert err == ""


def test_json_alone_on_standard_output(capsys):
    main(["analyze", "--steps", "100", "--json"])
    out, err = capsys.readouterr()
    assert err == ""
    report = json.loads(out)
    assert [entry["start"] for entry in report["policy_gradient"]] == [2, 3]
    assert [len(entry["zeros"]) for entry in report["q_learning"]] == [5, 5, 5, 1] * 2
    assert report["files"] == []


def test_a_chain_of_ones_own(capsys, tmp_path):
    Command(
        n=12, istar=5, alpha=5.0, p=0.9, start=(4,), steps=20, out=tmp_path / "out", json=True
    ).run()
    report = json.loads(capsys.readouterr().out)
    assert report["setting"]["horizon"] == 12
    assert report["starts"] == [4]
    assert len(report["files"]) == 12
    assert all((tmp_path / "out" / name).exists() for name in ("updates.svg", "learning.png"))


def test_the_middle_and_the_length_are_the_defaults(capsys):
    Command(n=9, steps=5, json=True).run()
    setting = json.loads(capsys.readouterr().out)["setting"]
    assert (setting["istar"], setting["horizon"]) == (4, 9)


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--n", "3"], "n is 3"),
        (["--istar", "3"], "istar is 3"),
        (["--p", "2"], "p is 2.0"),
        (["--gamma", "1"], "gamma is 1.0"),
        (["--start", "4"], "start is 4"),
        (["--r-minus", "5"], "r-minus is 5.0"),
        (["--leaf-probability", "1"], "leaf-probability is 1.0"),
        (["--steps", "0"], "steps is 0"),
        (["policy.json"], "for a policy: crisptree explain policy.json"),
        (["--learn", "--start", "2"], "--learn starts episodes in i* and i*+1"),
    ],
)
def test_mistakes_are_one_line(capsys, arguments, words):
    assert words in fails(capsys, *arguments)


def test_nothing_is_overwritten(capsys, tmp_path):
    (tmp_path / "curves.csv").write_text("mine")
    assert "curves.csv, which no analysis wrote" in fails(capsys, "--out", str(tmp_path))
    assert (tmp_path / "curves.csv").read_text() == "mine"


def test_figures_alone_need_matplotlib(capsys, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    main(["analyze", "--steps", "5"])
    assert "2.5347" in capsys.readouterr().out


def test_learning_from_experience_is_asked_for(capsys, monkeypatch, tmp_path):
    from crisptree.lab.analysis import sampled_learning
    from crisptree.lab.analysis.sampled_learning import LearnedThresholds

    def stays(setting, method, first, steps, trained):
        return LearnedThresholds(first, first, first < 1)

    monkeypatch.setattr(sampled_learning, "learned_thresholds", stays)
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path / "cache"))
    main(["analyze", "--steps", "5", "--learn", "--json"])
    entries = json.loads(capsys.readouterr().out)["experience"]
    assert {entry["learner"] for entry in entries} >= {"REINFORCE", "PPO", "DQN"}
    assert all(len(entry["phi_alone"]["last"]) == 41 for entry in entries)
    main(["analyze", "--steps", "5", "--learn"])
    out, err = capsys.readouterr()
    assert "Learned from experience: share of 41 initial φ that end optimal" in out
    assert err == ""


def test_nothing_is_learned_unasked(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "crisptree.lab.analysis.sampled_learning", None)
    main(["analyze", "--steps", "5", "--json"])
    assert "experience" not in json.loads(capsys.readouterr().out)
