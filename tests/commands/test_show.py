import subprocess
import sys

import pytest

from crisptree import cli
from crisptree.crisp import CrispTree
from crisptree.show import WAYS

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
