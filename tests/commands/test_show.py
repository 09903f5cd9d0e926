import subprocess
import sys
from dataclasses import replace

import pytest

from crisptree import cli
from crisptree.crisp import CrispTree
from crisptree.show import WAYS
from crisptree.show.html import as_html

TREE = CrispTree.from_nested(
    ("angle", 0.25, "right", "left"), ("angle",), ("left", "right"), env_id="CartPole-v1"
)


@pytest.fixture
def policy(tmp_path):
    TREE.save(tmp_path / "policy.json")
    return str(tmp_path / "policy.json")


def test_text_is_the_default(policy, capsys):
    cli.main(["show", policy])
    assert capsys.readouterr().out == "angle > 0.25\n├── yes: right\n└── no: left\n"


@pytest.mark.parametrize("way", WAYS)
def test_every_way(policy, capsys, way):
    cli.main(["show", policy, "--as", way])
    assert capsys.readouterr().out == WAYS[way](TREE)


def test_decimals(policy, capsys):
    cli.main(["show", policy, "--as", "rules", "--decimals", "3"])
    assert capsys.readouterr().out == "if angle > 0.250 then right;\notherwise left\n"


@pytest.mark.parametrize(
    ("name", "way"),
    [("a.svg", "svg"), ("a.MD", "markdown"), ("a.gv", "dot"), ("a.mmd", "mermaid"), ("a", "text")],
)
def test_the_ending_of_out_says_how(policy, tmp_path, capsys, name, way):
    cli.main(["show", policy, "--out", str(tmp_path / name)])
    assert (tmp_path / name).read_text(encoding="utf-8") == WAYS[way](TREE)
    assert capsys.readouterr().out == ""


def test_as_outweighs_the_ending(policy, tmp_path):
    cli.main(["show", policy, "--as", "rules", "--out", str(tmp_path / "a.svg")])
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == WAYS["rules"](TREE)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.json"], "cannot read none.json: No such file or directory"),
        (["{policy}", "--decimals", "-1"], "--decimals is -1; it must lie in 0 … 17"),
        (["{policy}", "--out", "none/file"], "cannot write none/file: No such file or directory"),
    ],
)
def test_a_mistake_is_one_line_and_exit_2(
    policy, tmp_path, monkeypatch, capsys, arguments, message
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stop:
        cli.main(["show", *(argument.format(policy=policy) for argument in arguments)])
    assert stop.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"crisptree: {message}")
    assert captured.err.count("\n") == 1


def test_jax_is_not_imported(policy):
    program = (
        "import sys; from crisptree import cli; cli.main(sys.argv[1:]); "
        "sys.exit('jax' in sys.modules or 'sklearn' in sys.modules or 'gymnasium' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "show", policy], capture_output=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode().startswith("angle > 0.25")


def page_of(capsys, *arguments):
    cli.main(["show", *arguments])
    said = capsys.readouterr()
    return said.out, said.err


def test_a_page_with_a_replay(tmp_path, capsys):
    falling = CrispTree.from_nested((2, 0.0, 0, 1), "abcd", "xy", env_id="CartPole-v1")
    falling.save(tmp_path / "cart.json")
    page = tmp_path / "page.html"
    cli.main(["show", str(tmp_path / "cart.json"), "--out", str(page), "--episodes", "1"])
    assert capsys.readouterr() == ("", "")
    text = page.read_text(encoding="utf-8")
    assert '"film":{"width":600,"height":400,' in text and len(text) < 3e6


def test_a_page_without_a_replay(policy, capsys):
    page, said = page_of(capsys, policy, "--as", "html", "--no-replay")
    assert page == as_html(TREE) and said == ""


@pytest.mark.parametrize(
    ("env_id", "why"),
    [
        (None, "the policy names no environment; --env ENV would."),
        ("os:Cart-v0", "the policy's environment, os:Cart-v0, would import a module"),
        ("CartPole-v1", "the policy takes 1 numbers, 'CartPole-v1' gives 4"),
        ("None-v0", "no environment 'None-v0'"),
    ],
)
def test_a_page_says_why_there_is_no_replay(tmp_path, capsys, env_id, why):
    replace(TREE, env_id=env_id).save(tmp_path / "p.json")
    page, said = page_of(capsys, str(tmp_path / "p.json"), "--as", "html")
    assert said.startswith("No replay: ") and why in said
    assert f'"note":"No replay: {why}'[:40].replace(">", "\\u003e") in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--env", "CartPole-v1"], "the policy takes 1 numbers, 'CartPole-v1' gives 4"),
        (["--env", "None-v0"], "no environment 'None-v0'"),
        (["--episodes", "0"], "--episodes is 0; it must lie in 1 … 100"),
    ],
)
def test_an_environment_asked_for_must_be_playable(policy, capsys, arguments, message):
    with pytest.raises(SystemExit) as stop:
        cli.main(["show", policy, "--as", "html", *arguments])
    assert stop.value.code == 2
    assert capsys.readouterr().err.startswith(f"crisptree: {message}")
