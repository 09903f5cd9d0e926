"""A policy file from a stranger: a policy or one clear line, whatever is in it."""

import json
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crisptree import cli
from crisptree.crisp import CrispTree

TREE = CrispTree.from_nested(
    ("angle", 0.25, "right", ("speed", -1e-3, ("angle", 0.1, "left", "right"), "left")),
    ("angle", "speed"),
    ("left", "right"),
    env_id="CartPole-v1",
    training={"steps": 1000},
)
COMMANDS = [
    ["show", "{policy}"],
    ["show", "{policy}", "--as", "rules"],
    ["show", "{policy}", "--as", "svg"],
    ["show", "{policy}", "--as", "html", "--no-replay"],
    ["show", "{policy}", "--as", "mermaid"],
    ["explain", "{policy}", "--at", "0", "0"],
    ["report", "{policy}", "--episodes", "0", "--exports", "python", "--out", "r.html"],
    ["compare", "{policy}", "{policy}", "--episodes", "0"],
    ["export", "{policy}", "--to", "python", "--out", "out.py"],
    ["export", "{policy}", "--to", "c", "--out", "out.c", "--unchecked"],
    ["export", "{policy}", "--to", "javascript", "--out", "out.mjs", "--unchecked"],
]


def run(command, policy, capsys):
    """The exit code and what was said; anything but an answer or a clear refusal raises."""
    try:
        cli.main([part.format(policy=policy) for part in command])
        code = 0
    except SystemExit as stop:
        code = stop.code
    return code, capsys.readouterr().err


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(0, 400),
    st.integers(0, 6),
    st.binary(max_size=6) | st.sampled_from([b"1e308", b"-", b"]", b"null", b"99999", b"\\u0000"]),
    st.sampled_from(COMMANDS),
)
def test_a_damaged_file(tmp_path, monkeypatch, capsys, at, length, new, command):
    monkeypatch.chdir(tmp_path)
    whole = json.dumps(TREE.to_dict()).encode()
    (tmp_path / "p.json").write_bytes(whole[:at] + new + whole[at + length :])
    code, said = run([*command], "p.json", capsys)
    assert code in (0, 2) or (code == 1 and command[0] == "compare")
    assert code != 2 or (said.startswith("crisptree: ") and said.count("\n") == 1)


NAMES = st.lists(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=12),
    min_size=2,
    max_size=2,
    unique=True,
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(NAMES, NAMES, st.text(st.characters(codec="utf-8"), max_size=12))
def test_any_names(tmp_path, monkeypatch, capsys, features, actions, env_id):
    monkeypatch.chdir(tmp_path)
    tree = CrispTree.from_nested((0, 0.5, (1, 0.5, 0, 1), 1), features, actions, env_id=env_id)
    tree.save("p.json")
    for command in COMMANDS:
        assert run(command, "p.json", capsys)[0] == 0, command


def chain(rules, features):
    """A list as long as asked for, each rule on a feature of its own while there are any."""
    rows = {name: [] for name in ("feature", "threshold", "if_true", "if_false", "action")}
    for at in range(rules):
        for name, values in zip(
            rows,
            ((at % features, -1), (at, 0), (2 * at + 1, -1), (2 * at + 2, -1), (-1, at % 2)),
            strict=True,
        ):
            rows[name] += values
    for name, value in zip(rows, (-1, 0, -1, -1, 0), strict=True):
        rows[name].append(value)
    names = [f"x{at}" for at in range(features)]
    of_version_2 = ("features", "actions", "env_kwargs", "feature_function")
    others = {name: value for name, value in TREE.to_dict().items() if name not in of_version_2}
    return {**others, "version": 1, "tree": rows, "feature_names": names}


@pytest.mark.parametrize(
    ("rules", "features", "message"),
    [
        (5000, 2, "has 5,001 leaves; this command takes policies of at most 4,096"),
        (10, 5000, "has 5,000 features; this command takes policies of at most 4,096"),
        (2000, 2, "has 2,003,000 comparisons in its rules; this command takes policies of at most"),
    ],
)
@pytest.mark.parametrize("command", [*COMMANDS, ["verify", "{policy}", "--property", "never left"]])
def test_what_is_too_large_is_refused(
    tmp_path, monkeypatch, capsys, command, rules, features, message
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.json").write_text(json.dumps(chain(rules, features)))
    code, said = run(command, "p.json", capsys)
    assert code == 2 and said.startswith(f"crisptree: p.json {message}")


def test_a_large_file_takes_little_memory(tmp_path):
    """Eight megabytes of nodes, each on a feature of its own, in half a gigabyte."""
    (tmp_path / "p.json").write_text(json.dumps(chain(120_000, 120_000)))
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_DATA, (2**29, 2**29));"
        "from crisptree import cli; cli.main(sys.argv[1:])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "show", str(tmp_path / "p.json"), "--as", "rules"],
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 2 and b"120,001 leaves" in done.stderr, done.stderr


def test_an_environment_named_in_the_file_imports_nothing(tmp_path, monkeypatch, capsys):
    (tmp_path / "trap.py").write_text("raise SystemExit('the trap was imported')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    data = {**TREE.to_dict(), "env_id": "trap:Trap-v0"}
    (tmp_path / "p.json").write_text(json.dumps(data))
    assert run(["show", "{policy}", "--as", "html"], "p.json", capsys)[0] == 0
    for command in (["explain", "{policy}"], ["compare", "{policy}", "{policy}"]):
        code, said = run(command, "p.json", capsys)
        assert code == 2 and "never makes crisptree import a module" in said
    assert "trap" not in sys.modules
