"""A policy with derived features, through every command that reads one."""

import json

import pytest

from crisptree import cli
from crisptree.crisp import CrispTree
from crisptree.crisp.derived import derived_feature
from crisptree.envs.task import task_of

TASK = task_of("CartPole-v1")
LEAN = derived_feature(((3, 1.0), (2, 3.0)), TASK.features)
NEVER = "never push left when pole angle > 0 and pole angular velocity > 0"
TREE = CrispTree.from_nested(
    (LEAN.name, 0.0, ("cart velocity", 2.0, 0, 1), 0),
    **{**TASK.signature, "features": (*TASK.features, LEAN)},
)


@pytest.fixture
def policy(tmp_path):
    TREE.save(tmp_path / "policy.json")
    return str(tmp_path / "policy.json")


def said(capsys, *words: str) -> str:
    cli.main([*words])
    return capsys.readouterr().out


def refused(capsys, *words: str) -> str:
    with pytest.raises(SystemExit) as error:
        cli.main([*words])
    assert error.value.code == 2
    return capsys.readouterr().err


def test_show(policy, capsys, tmp_path):
    assert "pole angular velocity + 3·pole angle > 0" in said(capsys, "show", policy)
    page = tmp_path / "page.html"
    said(capsys, "show", policy, "--as", "html", "--out", str(page))
    assert '"terms":[[3,1.0],[2,3.0]]' in page.read_text()


def test_evaluate(policy, capsys):
    found = json.loads(said(capsys, "evaluate", policy, "--episodes", "5", "--json"))
    assert found["mean"] > 150


def test_explain(policy, capsys):
    assert "pole angular velocity + 3·pole angle" in said(
        capsys, "explain", policy, "--episodes", "2"
    )
    asked = ("explain", policy, "--at", "0", "0", "0.1", "0")
    assert "this one has derived ones" in refused(capsys, *asked)


@pytest.mark.parametrize(
    ("question", "verdict"),
    [
        (f"{NEVER} and cart velocity < 0", 0),
        ("never push right when pole angle < 0 and pole angular velocity < -1", 0),
        ("never push right when pole angle < 0", 1),
        ("always push left when pole angular velocity + 3*pole angle < -0.1", 0),
    ],
)
def test_verify(policy, capsys, question, verdict):
    try:
        cli.main(["verify", policy, "--property", question])
        code = 0
    except SystemExit as ended:
        code = ended.code
    assert code == verdict, capsys.readouterr().out
    if verdict == 0:
        assert "computed in real numbers" in capsys.readouterr().out


def test_verify_the_closed_loop(policy, capsys):
    question = "from reset stays up for 10 steps"
    assert "derived" in refused(capsys, "verify", policy, "--property", question)


def test_report(policy, capsys, tmp_path):
    page = tmp_path / "report.html"
    said(capsys, "report", policy, "--episodes", "3", "--out", str(page))
    assert "pole angular velocity + 3·pole angle" in page.read_text()


def test_compare(policy, capsys, tmp_path):
    assert "same" in said(capsys, "compare", policy, policy)
    other = CrispTree.from_nested(("pole angle", 0.0, 1, 0), **TASK.signature)
    other.save(tmp_path / "other.json")
    assert "different derived features" in refused(
        capsys, "compare", policy, str(tmp_path / "other.json")
    )
