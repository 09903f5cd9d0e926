"""The reviewer's page says what is true of the policy, and nothing in it can run."""

import hashlib
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from crisptree import CrisptreeError, cli
from crisptree.crisp import CrispTree
from crisptree.crisp.signature import Actions
from crisptree.report import Request, as_page, as_pdf, gathered
from crisptree.report.play import as_png

POLICY = Path(__file__).parents[2] / "policies" / "cartpole-tree-4.json"
TREE = CrispTree.load(POLICY)
QUICK = Request(episodes=5, exports=("python", "st"))


@pytest.fixture(scope="module")
def review():
    asked = [
        "never push left when pole angle > 0.1 and pole angular velocity > 0",
        "never push left when pole angle > 0",
        "from |all| <= 0.05 stays up for 500 steps",
        "where push right",
    ]
    pytest.importorskip("z3")
    return gathered(TREE, replace(QUICK, properties=asked, seconds=10.0), POLICY)


def test_scores_are_those_of_evaluate(review):
    from crisptree import evaluate

    assert review.played.score == evaluate(TREE, episodes=5)
    assert review.played.states.shape == (2500, 4)
    assert len(review.played.worst.observations) == 500


def test_properties_are_proved_or_refuted_with_what_shows_it(review):
    proved, refuted, episode, regions = review.findings
    assert (proved.verdict, refuted.verdict) == ("proved", "refuted")
    seen = np.array([value for _, value in refuted.values])
    assert seen[2] > 0 and TREE.action_names[int(TREE.predict(seen)[0])] == "push left"
    assert refuted.action == "push left"
    assert len(refuted.way) == 2 and not refuted.way[-1].is_true
    assert (episode.verdict, regions.verdict) == ("refuted", "regions")
    assert abs(episode.course[-1][2]) > 0.2095 or abs(episode.course[-1][0]) > 2.4
    assert len(regions.regions) >= 2


def test_the_page_holds_everything(review):
    page = as_page(review)
    sha = hashlib.sha256(POLICY.read_bytes()).hexdigest()
    for words in (sha, "Every episode earned 500", "push left", "crisptree train CartPole-v1"):
        assert words in page
    assert page.count('class="chip good"') == 3 and page.count('class="chip bad"') == 2
    assert "<script" not in page and "http-equiv" in page
    assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", page)
    assert [f"<span>{n}</span>" in page for n in range(1, 10)] == [True] * 9


def test_exports_are_equal_or_say_why_not(review):
    assert [each.state for each in review.exports] == ["equal", "equal"]
    assert all(each.observations > 20_000 for each in review.exports)
    vectors = Actions.box(("torque",), (-2.0,), (2.0,))
    linear = CrispTree.leaf([(0.5, {"angle": -3.1})], ("angle",), actions=vectors)
    (sklearn,) = gathered(linear, Request(episodes=0, exports=("sklearn",))).exports
    assert sklearn.state == "not checked" and sklearn.note


def test_an_environment_that_cannot_be_played_is_said():
    other = replace(TREE, env_id="nowhere:Nothing-v0")
    found = gathered(other, replace(QUICK, exports=()))
    assert found.played is None and "never makes crisptree import" in as_page(found)
    with pytest.raises(CrisptreeError, match="NoSuchThing"):
        gathered(TREE, replace(QUICK, env="NoSuchThing-v9"))


def test_records_of_a_run_count_only_if_they_are_this_policys(tmp_path):
    TREE.save(tmp_path / "policy.json")
    summary = {"config_hash": "another", "seed": 77, "stages": [{"stage": "direct"}]}
    (tmp_path / "summary.json").write_text(json.dumps(summary))
    found = gathered(TREE, Request(episodes=0, exports=()), tmp_path / "policy.json")
    assert not found.stages and [name for name, _, _ in found.files] == ["policy.json"]
    same = replace(TREE, training={**TREE.training, "config_hash": "another"})
    found = gathered(same, Request(episodes=0, exports=()), tmp_path / "policy.json")
    assert found.stages[0].name == "direct" and len(found.files) == 2


def test_names_are_never_markup():
    evil = CrispTree.from_nested(
        ("<b>x</b>", 0.5, "<i>", "&"), ("<b>x</b>",), ("<i>", "&"), env_id="<script>"
    )
    page = as_page(gathered(evil, Request(episodes=0, exports=("python",))))
    assert (
        "<b>x</b>" not in page
        and "<script" not in page
        and "<i>" not in page.replace("<i></i>", "")
    )


def test_invisible_characters_are_spelled_out():
    signs = "\x1b[2J\u202e\x00"
    tree = CrispTree.from_nested((0, 0.0, 1, 0), (f"a{signs}",), (f"stay{signs}", "go"))
    evil = replace(tree, env_id=f"Evil{signs}-v0")
    page = as_page(gathered(evil, Request(episodes=0, exports=())))
    assert all(each == "\n" or each.isprintable() for each in page)
    assert page.count(r"\x1b[2J\u202e\x00") >= 3


def test_a_tree_reports_itself():
    assert "Review of a policy" in TREE.report(episodes=2, exports=())
    with pytest.raises(CrisptreeError, match="report takes no 'episode'"):
        TREE.report(episode=2)
    assert TREE.as_html().startswith("<!doctype html>")


def test_the_command(tmp_path, capsys, monkeypatch):
    shutil.copy(POLICY, tmp_path / "policy.json")
    (tmp_path / "wanted.txt").write_text("# a comment\nincreasing in pole angle\n")
    words = ["--episodes", "2", "--exports", "c,st", "--properties", str(tmp_path / "wanted.txt")]
    cli.main(["report", str(tmp_path), *words])
    assert capsys.readouterr().out == f"wrote {tmp_path / 'policy.report.html'}\n"
    page = (tmp_path / "policy.report.html").read_text()
    assert "increasing in pole angle" in page and "wanted.txt" in page


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--out", "a.docx"], "must end in .html or .pdf"),
        (["--episodes", "-1"], "must lie in 0"),
        (["--exports", "cobol"], "there is no export 'cobol'"),
        (["--properties", "missing.txt"], "cannot read the properties"),
        (["--file", "missing.bin"], "cannot read missing.bin"),
        (["--property", "never fly"], "fly"),
    ],
)
def test_mistakes_get_one_line(words, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stop:
        cli.main(["report", str(POLICY), "--episodes", "1", "--exports", "none", *words])
    said = capsys.readouterr().err
    assert stop.value.code == 2 and message in said and said.count("\n") == 1


def test_a_pdf(review):
    if not any(map(shutil.which, ("chromium", "google-chrome"))):
        pytest.skip("no browser")
    assert as_pdf("<h1>A page</h1>").startswith(b"%PDF")


def test_without_a_browser_a_pdf_says_what_it_needs(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(CrisptreeError, match="needs Chromium or Chrome"):
        as_pdf("")


def test_a_picture_is_a_png():
    picture = np.zeros((3, 900, 3), np.uint8)
    content = as_png(picture)
    assert content.startswith(b"\x89PNG") and content[16:24] == (300).to_bytes(4) + (1).to_bytes(4)


def test_certificates_are_checked_again(tmp_path):
    proof = tmp_path / "proof.json"
    asked = ["--property", "from |all| <= 0.05 stays up for 5 steps", "--seconds", "30"]
    cli.main(["verify", str(POLICY), *asked, "--certificate", str(proof)])
    plain = Request(episodes=0, exports=(), certificates=[proof])
    (found,) = gathered(TREE, plain, POLICY).findings
    assert (found.verdict, found.source) == ("proved", "proof.json")
    other = replace(TREE, threshold=TREE.threshold + (TREE.feature >= 0) * 0.5)
    review = gathered(other, plain, POLICY)
    assert review.findings[0].verdict == "rejected" and "1</b><span>certificates rejected" in (
        as_page(review)
    )


def test_real_actions_are_drawn_as_lines():
    from crisptree.envs.task import task_of

    task = task_of("Pendulum-v1")
    leaf = {"torque": (0.1, {"angular velocity": -0.6})}
    tree = CrispTree.from_nested(("cos of angle", 0.5, leaf, [2.0]), **task.signature)
    page = as_page(gathered(tree, Request(episodes=2, exports=())))
    rows = re.findall(r'<text class="name"[^>]*>([^<]+)<', page)
    assert rows == ["torque", "cos of angle", "angular velocity"]
