import subprocess
import sys
from dataclasses import replace

import pytest

from crisptree import cli
from crisptree.crisp import CrispTree
from crisptree.show import FORMATS
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


@pytest.mark.parametrize("name", ["text", "rules", "svg", "dot", "mermaid", "markdown"])
def test_every_format(policy, capsys, name):
    cli.main(["show", policy, "--as", name])
    assert capsys.readouterr().out == FORMATS[name](TREE)


def test_decimals(policy, capsys):
    cli.main(["show", policy, "--as", "rules", "--decimals", "3"])
    assert capsys.readouterr().out == "if angle > 0.250 then right;\notherwise left\n"


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("a.svg", "svg"),
        ("a.MD", "markdown"),
        ("a.gv", "dot"),
        ("a.mmd", "mermaid"),
        ("a.txt", "text"),
        ("a.rules", "rules"),
    ],
)
def test_the_suffix_of_out_says_how(policy, tmp_path, capsys, name, wanted):
    cli.main(["show", policy, "--out", str(tmp_path / name)])
    assert (tmp_path / name).read_text(encoding="utf-8") == FORMATS[wanted](TREE)
    assert capsys.readouterr().out == f"wrote {tmp_path / name}\n"


@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_pictures(policy, tmp_path, suffix, start):
    pytest.importorskip("cairosvg", exc_type=ImportError)
    cli.main(["show", policy, "--out", str(tmp_path / f"a.{suffix}")])
    assert (tmp_path / f"a.{suffix}").read_bytes().startswith(start)


def test_as_outweighs_the_suffix(policy, tmp_path):
    for name in ("a.svg", "a.xyz", "a"):
        cli.main(["show", policy, "--as", "rules", "--out", str(tmp_path / name)])
        assert (tmp_path / name).read_text(encoding="utf-8") == FORMATS["rules"](TREE)


def test_the_directory_of_a_run(policy, tmp_path, capsys):
    cli.main(["show", str(tmp_path)])
    assert capsys.readouterr().out == FORMATS["text"](TREE)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.json"], "cannot read none.json: No such file or directory"),
        (["{policy}", "--decimals", "-1"], "decimals is -1; it must lie in 0 … 17"),
        (["{policy}", "--out", "none/a.md"], "cannot write none/a.md: No such file or directory"),
        (
            ["{policy}", "--out", "a.xyz"],
            "--out a.xyz ends in '.xyz'; known are .txt, .rules, .svg",
        ),
        (
            ["{policy}", "--out", "a\x1b.\x1bx"],
            r"--out a\x1b.\x1bx ends in '.\x1bx'; known are .txt",
        ),
        (["{policy}", "--out", "file"], "--out file has no suffix; known are .txt, .rules, .svg"),
        (["{policy}", "--as", "png"], "--as png needs --out FILE"),
        (["empty"], "empty is a directory without a policy.json; give a policy file or"),
    ],
)
def test_a_mistake_is_one_line_and_exit_2(
    policy, tmp_path, monkeypatch, capsys, arguments, message
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
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
    assert capsys.readouterr() == (f"wrote {page}\n", "")
    text = page.read_text(encoding="utf-8")
    assert '"video":{"width":600,"height":400,' in text and len(text) < 3e6


def test_a_page_without_a_replay(policy, capsys):
    page, said = page_of(capsys, policy, "--as", "html", "--no-replay")
    assert page == as_html(TREE) and said == ""


@pytest.mark.parametrize(
    ("env_id", "why"),
    [
        (None, "the policy does not name its environment: give one with --env."),
        ("os:Cart-v0", "the policy names 'os:Cart-v0', and a policy file never makes crisptree"),
        ("CartPole-v1", "the policy has 1 features, 'CartPole-v1' has 4"),
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
        (
            ["--env", "CartPole-v1"],
            "the policy has 1 features, 'CartPole-v1' has 4",
        ),
        (["--env", "None-v0"], "no environment 'None-v0'"),
        (["--episodes", "0"], "--episodes is 0; it must lie in 1 … 100"),
    ],
)
def test_an_environment_asked_for_must_be_playable(policy, capsys, arguments, message):
    with pytest.raises(SystemExit) as stop:
        cli.main(["show", policy, "--as", "html", *arguments])
    assert stop.value.code == 2
    assert capsys.readouterr().err.startswith(f"crisptree: {message}")
