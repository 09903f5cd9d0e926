import json

import pytest

from crisptree import cli
from crisptree.crisp import CrispTree

TREE = CrispTree.from_nested(
    ("angle", 0.25, "right", ("speed", 1.0, "right", "left")), ("angle", "speed"), ("left", "right")
)


@pytest.fixture
def policy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    TREE.save("policy.json")
    return "policy.json"


def run(capsys, *arguments):
    try:
        cli.main(["verify", "policy.json", *arguments])
        code = 0
    except SystemExit as stop:
        code = stop.code
    said = capsys.readouterr()
    return code, said.out, said.err


def test_what_holds(policy, capsys):
    assert run(capsys, "--property", "never left when angle > 0.25") == (
        0,
        "HOLDS     never left when angle > 0.25\n          no such observation leads to “left”\n",
        "",
    )


def test_what_fails_shows_an_observation(policy, capsys):
    code, out, _ = run(capsys, "--property", "always right when speed >= 1 and angle = 0")
    assert code == 1
    assert out.endswith(
        "this observation leads to “left”\n            angle = 0.0\n            speed = 1.0\n"
    )


def test_regions(policy, capsys):
    code, out, _ = run(capsys, "--property", "where left")
    assert (code, out) == (
        0,
        "REGIONS   where left\n          “left” is taken in 1 region\n"
        "            angle ≤ 0.25 and speed ≤ 1.0\n",
    )


def test_several_properties_from_a_file_as_json(policy, capsys, tmp_path):
    (tmp_path / "all.txt").write_text(
        '# what must hold\nincreasing in angle\n\nsame as "policy.json"\n'
    )
    code, out, _ = run(capsys, "--file", "all.txt", "--property", "never right", "--json")
    assert code == 1
    answers = json.loads(out)["answers"]
    assert [each["verdict"] for each in answers] == ["fails", "holds", "holds"]


def test_undecided_is_3(policy, capsys, monkeypatch):
    import z3

    monkeypatch.setattr(z3.Solver, "check", lambda self: z3.unknown)
    assert run(capsys, "--property", "never right")[0] == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nothing to prove; --property"),
        (["--property", "never up"], "in the property “never up”: expected an action: left, right"),
        (["--file", "none.txt"], "cannot read the properties in none.txt"),
        (["--property", "never left", "--seconds", "-1"], "--seconds is -1.0; it must be above 0"),
    ],
)
def test_mistakes_are_one_line_and_exit_2(policy, capsys, arguments, message):
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"crisptree: {message}") and err.count("\n") == 1
