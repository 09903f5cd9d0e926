"""A study of policies whose actions are numbers, or several choices at once."""

import numpy as np
import pytest
from number_study import MIXED, PARTS, number_definition, states
from people import answer, on, read, walk
from starlette.testclient import TestClient

from crisptree.lab.study import make_drawing
from crisptree.lab.study.database import create_study, invite, read_rows
from crisptree.lab.study.definition import define
from crisptree.lab.study.questionnaire import Questionnaire
from crisptree.lab.study.study_report import as_markdown
from crisptree.lab.study.study_results import results_of
from crisptree.lab.study.web import create_app


def client_of(engine, study):
    app = create_app(engine, study, secret="a secret for tests", url="http://x")
    return TestClient(app, follow_redirects=False)


@pytest.fixture
def study(sqlite_engine):
    return on(sqlite_engine, create_study, "study", number_definition())


@pytest.fixture
def client(sqlite_engine, study):
    with client_of(sqlite_engine, study) as client:
        yield client


def item_of(study, page):
    _, name, number = page.key.split("-")
    block = next(block for block in study.definition.blocks if block.name == name)
    return block.items[int(number) - 1]


def answer_all(client, link, study, off_by):
    """Answer every question with the policy's number, plus something."""
    while not (page := read(client, link)).code:
        given = {}
        if page.key.startswith("item-"):
            (right,) = item_of(study, page).answer
            given = {"action-0": f"{np.clip(right + off_by, -2, 2):.4f}"}
        assert answer(client, page, **given).status_code == 303


def test_the_page_says_range_and_tolerance(client, sqlite_engine, study):
    (link,) = on(sqlite_engine, invite, study, 1)
    text = walk(client, link, until="item-").text
    assert "Which torque does the policy set?" in text
    assert "A number between −2 and 2. It counts as right if it is off by at most 0.08." in text
    assert 'type="radio"' not in text and 'name="action-0"' in text


@pytest.mark.parametrize(("off_by", "correct"), [(0.0, 1), (0.05, 1), (-0.05, 1), (0.5, 0)])
def test_numbers_within_the_tolerance_are_right(client, sqlite_engine, study, off_by, correct):
    (link,) = on(sqlite_engine, invite, study, 1)
    answer_all(client, link, study, off_by)
    rows = [row for row in on(sqlite_engine, read_rows, study) if row.kind == "item"]
    inside = [row for row in rows if abs(float(row.policy_takes)) < 1.5]
    assert inside and {row.correct for row in inside} == {correct}
    for row in inside:
        assert row.error == pytest.approx(abs(off_by), abs=1e-4)
        assert abs(float(row.given) - float(row.policy_takes)) == pytest.approx(
            abs(off_by), abs=1e-2
        )


@pytest.mark.parametrize(
    ("given", "stored"),
    [("0.5", 0.5), (" -0.5 ", -0.5), ("−0,5", -0.5), ("+1.", 1.0), (".25", 0.25), ("2", 2.0)],
)
def test_numbers_as_people_write_them(client, sqlite_engine, study, given, stored):
    (link,) = on(sqlite_engine, invite, study, 1)
    page = walk(client, link, until="item-")
    assert answer(client, page, **{"action-0": given}).status_code == 303
    (row,) = (row for row in on(sqlite_engine, read_rows, study) if row.kind == "item")
    assert float(row.given) == stored


@pytest.mark.parametrize(
    ("given", "notice"),
    [
        ("", "Please give a number, such as -0.25."),
        ("x", "Please give a number"),
        ("1e5", "Please give a number"),
        ("nan", "Please give a number"),
        ("inf", "Please give a number"),
        ("٣", "Please give a number"),
        ("0x1", "Please give a number"),
        ("1 2", "Please give a number"),
        ("9" * 400, "Please give a number"),
        ("2.01", "The action lies between −2 and 2."),
        ("-500000000000", "The action lies between −2 and 2."),
    ],
)
def test_what_is_no_such_number_is_refused(client, sqlite_engine, study, given, notice):
    (link,) = on(sqlite_engine, invite, study, 1)
    page = walk(client, link, until="item-")
    reply = answer(client, page, **{"action-0": given})
    assert reply.status_code == 422 and notice in reply.text
    assert not [row for row in on(sqlite_engine, read_rows, study) if row.kind == "item"]


def test_practice_in_numbers_is_worked_through(client, sqlite_engine, study):
    for off_by, verdict in ((0.01, "That was right."), (1.0, "That was not right.")):
        (link,) = on(sqlite_engine, invite, study, 1)
        page = walk(client, link, until="practice-")
        name = page.key.removeprefix("practice-")
        block = next(block for block in study.definition.blocks if block.name == name)
        (right,) = block.practice.answer
        given = right + off_by if right + off_by <= 2 else right - off_by
        answer(client, page, **{"action-0": f"{given:.3f}"})
        text = read(client, link).text
        assert verdict in text and "So the policy takes: torque = " in text


def test_the_report_says_how_far_numbers_were_off(client, sqlite_engine, study):
    for off_by in (0.0, 0.03, 0.3):
        (link,) = on(sqlite_engine, invite, study, 1)
        answer_all(client, link, study, off_by)
    results = results_of(study, on(sqlite_engine, read_rows, study))
    assert results.measured.accuracy.shape == (3, 2)
    assert results.measured.error[0] == pytest.approx([0, 0], abs=1e-4)
    assert "off by, on average" in as_markdown(results, "x")
    assert 0 < results.policies[0].error_mean < 0.2


def test_several_numbers_at_once(sqlite_engine):
    drawings = [(make_drawing(MIXED, kind), states()) for kind in ("tree", "list")]
    study = on(sqlite_engine, create_study, "s", define(drawings, Questionnaire(), 2, 0))
    (link,) = on(sqlite_engine, invite, study, 1)
    with client_of(sqlite_engine, study) as client:
        page = walk(client, link, until="item-")
        assert page.names("action-") == ["action-0", "action-1"]
        torque, brake = item_of(study, page).answer
        given = {"action-0": f"{torque:.2f}", "action-1": f"{brake:.2f}"}
        assert answer(client, page, **given).status_code == 303
        page = read(client, link)
        assert answer(client, page, **{"action-0": "0"}).status_code == 303
        page = walk(client, link, until="item-")
    first, second = (row for row in on(sqlite_engine, read_rows, study) if row.kind == "item")
    assert (first.correct, second.correct) == (1, 0)
    assert "; " in first.given and "; " in first.policy_takes


def test_several_choices_at_once(sqlite_engine):
    visited = np.random.default_rng(0).integers(0, [2, 3], size=(100, 2)).astype(float)
    drawings = [(make_drawing(PARTS, kind), visited) for kind in ("tree", "list")]
    study = on(sqlite_engine, create_study, "s", define(drawings, Questionnaire(), 2, 0))
    (link,) = on(sqlite_engine, invite, study, 1)
    with client_of(sqlite_engine, study) as client:
        page = walk(client, link, until="item-")
        assert "steer: what does the policy choose?" in page.text
        assert "<td>yes</td>" in page.text or "<td>no</td>" in page.text
        steer, brake = item_of(study, page).answer
        answer(client, page, **{"action-0": str(steer), "action-1": str(1 - brake)})
        assert answer(client, page, **{"action-0": "0", "action-1": "2"}).status_code == 303
        walk(client, link)
    (row, *_) = (row for row in on(sqlite_engine, read_rows, study) if row.kind == "item")
    assert row.correct == 0 and row.error is None
    assert row.given in ("left; off", "left; on", "right; off", "right; on")
