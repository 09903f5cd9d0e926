from dataclasses import replace

import numpy as np
from people import on, walk
from starlette.testclient import TestClient

from crisptree.crisp import CrispTree
from crisptree.lab.study import LinearMLP, make_drawing
from crisptree.lab.study.database import create_study, invite
from crisptree.lab.study.definition import define
from crisptree.lab.study.questionnaire import Question, Questionnaire, Statement
from crisptree.lab.study.web import create_app
from crisptree.lab.study.web.rendering import size_of, width_of

EVIL = "<script>alert(1)</script>"


def test_nothing_a_policy_or_questionnaire_says_becomes_part_of_the_page(sqlite_engine):
    """Names and texts come from files; none may become markup."""
    features, actions = (f"{EVIL}&", '"quoted"'), (EVIL, "it's")
    tree = CrispTree.from_nested((0, 0.1, (1, 0.2, 0, 1), (1, -0.3, 0, 1)), features, actions)
    mlp = LinearMLP(((np.array([[1.0, 0.0], [0.0, 1.0]]), np.zeros(2)),), features, actions)
    states = np.random.default_rng(0).normal(size=(200, 2))
    own = Questionnaire(
        title=EVIL,
        consent=EVIL,
        instructions=EVIL,
        thanks=EVIL,
        statements=(Statement("a", EVIL),),
        questions=(Question("q", EVIL, (EVIL, "x")),),
    )
    definition = define([(make_drawing(tree), states), (make_drawing(mlp), states)], own, 2, 0)
    study = on(sqlite_engine, create_study, "study", definition)
    app = create_app(sqlite_engine, study, secret="a secret for tests", url="http://x")
    (link,) = on(sqlite_engine, invite, study, 1)
    with TestClient(app, follow_redirects=False) as client:
        for step in ("consent", "instr", "prac", "worked", "item", "ratings", "closing", "done"):
            page = walk(client, link, until=step)
            assert EVIL not in page.text
            assert "alert(1)" in page.text


def test_a_drawing_says_how_wide_it_is():
    assert width_of('<svg viewBox="0 0 9 9" width="12.5" height="3">') == 12.5


def test_drawings_too_wide_for_a_telephone_are_scrolled():
    assert [size_of(width) for width in (435.0, 500.0, 1100.0)] == ["narrow", "middling", "wide"]


def test_the_answer_is_nowhere_on_a_page_that_counts(sqlite_client, sqlite_engine, sqlite_study):
    (link,) = on(sqlite_engine, invite, sqlite_study, 1)
    page = walk(sqlite_client, link, until="item-")
    assert "So the policy takes" not in page.text and "way to the answer" not in page.text
    assert page.text.count('value="0"') == page.text.count('value="1"') == 1


def test_practice_is_followed_by_its_solution(sqlite_client, sqlite_engine, sqlite_study):
    from people import answer

    for wrong in (False, True):
        (link,) = on(sqlite_engine, invite, sqlite_study, 1)
        page = walk(sqlite_client, link, until="practice-")
        name = page.key.removeprefix("practice-")
        block = next(b for b in sqlite_study.definition.blocks if b.name == name)
        (right,) = block.practice.answer
        chosen = 1 - right if wrong else right
        answer(sqlite_client, page, **{"action-0": str(chosen)})
        worked = walk(sqlite_client, link, until="worked-")
        assert ("That was not right." in worked.text) == wrong
        assert ("That was right." in worked.text) != wrong
        for line in block.drawing.worked(block.practice.state):
            assert line.split(".")[0] in worked.text


def test_the_end_links_back_where_asked_to(sqlite_engine, definition):
    own = replace(definition.questionnaire, completion_url="https://panel.example/done?c=1&x=2")
    study = on(sqlite_engine, create_study, "s", replace(definition, questionnaire=own))
    app = create_app(sqlite_engine, study, secret="a secret for tests", url="http://x")
    (link,) = on(sqlite_engine, invite, study, 1)
    with TestClient(app, follow_redirects=False) as client:
        assert 'href="https://panel.example/done?c=1&amp;x=2"' in walk(client, link).text
