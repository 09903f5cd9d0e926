import pytest
from people import answer, filled_in, on, read, walk

from crisptree.lab.study.database import (
    all_answers,
    all_participants,
    create_study,
    invite,
    read_rows,
)
from crisptree.lab.study.web import participant_pages
from crisptree.lab.study.web.participant_pages import KEPT


@pytest.fixture
def link(engine, study):
    (link,) = on(engine, invite, study, 1)
    return link


def test_a_whole_questionnaire(client, engine, study, link):
    end = walk(client, link)
    (who,) = on(engine, all_participants, study)
    assert end.code == who.completion_code
    rows = on(engine, read_rows, study)
    kinds = [row.kind for row in rows]
    assert kinds.count("item") == 15 and kinds.count("practice") == 3
    assert kinds.count("rating") == 15 and kinds.count("question") == 2
    assert kinds.count("comment") == 1
    assert all(row.finished for row in rows)


def test_every_page_is_the_first_without_an_answer(client, link):
    assert read(client, link).key == "consent"
    assert read(client, link).key == "consent"
    answer(client, read(client, link))
    assert read(client, link).key == "instructions"


def test_an_answer_sent_twice_is_stored_once_and_the_first_stays(client, engine, study, link):
    page = walk(client, link, until="item-")
    assert answer(client, page, **{"action-0": "1"}).headers["location"] == f"/p/{link}"
    again = answer(client, page, **{"action-0": "0"})
    assert again.headers["location"] == f"/p/{link}?kept=1"
    assert KEPT in client.get(again.headers["location"]).text
    stored = [each for each in on(engine, all_answers, study) if each.page == page.key]
    assert [each.value for each in stored] == [{"action": [1]}]


def test_a_script_is_answered_in_json(client, link):
    page = read(client, link)
    reply = client.post(page.address, data=filled_in(page), headers={"accept": "application/json"})
    assert reply.json() == {"saved": True, "kept": False, "next": f"/p/{link}"}
    reply = client.post(page.address, data=filled_in(page), headers={"accept": "application/json"})
    assert reply.json() == {"saved": True, "kept": True, "next": f"/p/{link}"}


def test_who_does_not_agree_leaves_nothing(client, engine, study, link):
    reply = answer(client, read(client, link), answer="no")
    assert reply.headers["location"] == f"/p/{link}/declined"
    assert "No answer is stored" in client.get(f"/p/{link}/declined").text
    assert on(engine, all_answers, study) == []
    assert read(client, link).key == "consent"


def test_a_later_page_is_not_open(client, engine, study, link):
    page = walk(client, link, until="item-")
    token = page.token
    other = f"/p/{link}/closing"
    assert client.post(other, data={"token": token, "comment": ""}).status_code == 403
    right = client.app.state.context.signer.token(
        on(engine, all_participants, study)[0].link_hash, "closing"
    )
    assert client.post(other, data={"token": right, "comment": ""}).status_code == 409


@pytest.mark.parametrize(
    ("until", "changes", "says"),
    [
        ("consent", {"answer": "perhaps"}, "one of the two buttons"),
        ("instructions", {"extra": "1"}, "no page asked for"),
        ("item-", {"action-0": "2"}, "one of the answers offered"),
        ("item-", {"action-0": "1.0"}, "one of the answers offered"),
        ("item-", {"action-0": "-1"}, "one of the answers offered"),
        ("item-", {"action-0": "٠"}, "one of the answers offered"),
        ("ratings-", {"rating-logic": "7"}, "one of the answers offered"),
        ("ratings-", {"rating-none": "1"}, "no page asked for"),
        ("closing", {"comment": "x" * 5001}, "at most 5,000 characters"),
        ("closing", {"question-code": "7"}, "one of the answers offered"),
        ("closing", {"question-job": "x" * 501}, "at most 500 characters"),
        ("item-", {"timing": "{}"}, "cannot be read"),
        ("item-", {"timing": '{"ms":1,"away_ms":2,"focus_log":[]}'}, "contradicts itself"),
        ("item-", {"timing": '{"ms":-1,"away_ms":0,"focus_log":[]}'}, "cannot be read"),
        ("item-", {"timing": '{"ms":1e99,"away_ms":0,"focus_log":[]}'}, "cannot be read"),
        ("item-", {"timing": '{"ms":9,"away_ms":0,"focus_log":[[1,"x"]]}'}, "cannot be read"),
    ],
)
def test_what_no_page_offers_is_refused_and_not_stored(
    sqlite_client, sqlite_engine, sqlite_study, until, changes, says
):
    (link,) = on(sqlite_engine, invite, sqlite_study, 1)
    page = walk(sqlite_client, link, until=until)
    before = len(on(sqlite_engine, all_answers, sqlite_study))
    reply = answer(sqlite_client, page, **changes)
    assert reply.status_code == 422
    assert says in reply.text
    assert len(on(sqlite_engine, all_answers, sqlite_study)) == before


def test_a_missing_answer_is_asked_for(sqlite_client, sqlite_engine, sqlite_study):
    (link,) = on(sqlite_engine, invite, sqlite_study, 1)
    page = walk(sqlite_client, link, until="ratings-")
    fields = filled_in(page)
    del fields["rating-logic"]
    reply = sqlite_client.post(page.address, data=fields)
    assert reply.status_code == 422
    assert "Please rate every statement." in reply.text


def test_links_of_others_and_of_other_studies_open_nothing(client, engine, study, definition, link):
    (other,) = on(engine, invite, study, 1)
    elsewhere = on(engine, create_study, "elsewhere", definition)
    (stranger,) = on(engine, invite, elsewhere, 1)
    mine = read(client, link)
    assert client.post(f"/p/{other}/consent", data=filled_in(mine)).status_code == 403
    assert client.get(f"/p/{stranger}").status_code == 404
    assert client.get("/p/" + "x" * 32).status_code == 404
    assert client.post(f"/p/{'x' * 32}/consent", data=filled_in(mine)).status_code == 404
    assert on(engine, all_answers, study) == []


def test_a_form_needs_its_own_token(client, link):
    page = read(client, link)
    for token in ("", "x", page.token[:-1], page.token + "x"):
        assert client.post(page.address, data={"token": token, "answer": "yes"}).status_code == 403
    assert client.post(page.address, data={"answer": "yes"}).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [{"origin": "https://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"}],
)
def test_forms_of_other_sites_are_refused(client, link, headers):
    page = read(client, link)
    assert client.post(page.address, data=filled_in(page), headers=headers).status_code == 403
    assert read(client, link).key == "consent"


def test_own_origin_is_accepted(client, link):
    page = read(client, link)
    headers = {"origin": "http://testserver", "sec-fetch-site": "same-origin"}
    assert client.post(page.address, data=filled_in(page), headers=headers).status_code == 303


def test_the_open_link_makes_a_participant(client, engine, study):
    page = client.get(f"/join/{study.join_code}")
    assert page.status_code == 200
    assert on(engine, all_participants, study) == []
    token = page.text.split('name="token" value="')[1].split('"')[0]
    reply = client.post(f"/join/{study.join_code}", data={"token": token})
    assert reply.status_code == 303
    assert read(client, reply.headers["location"].removeprefix("/p/")).key == "consent"
    assert len(on(engine, all_participants, study)) == 1
    assert client.get("/join/wrong").status_code == 404
    assert client.post("/join/wrong", data={"token": token}).status_code == 404


def test_the_browsers_time_is_stored_unless_it_cannot_be(client, engine, study, link):
    first = walk(client, link, until="item-")
    timing = '{"ms":40,"away_ms":15,"focus_log":[[5,"blur"],[20,"focus"]]}'
    answer(client, first, timing=timing)
    second = read(client, link)
    answer(client, second, timing='{"ms":3600000,"away_ms":0,"focus_log":[]}')
    rows = {row.question: row for row in on(engine, read_rows, study) if row.kind == "item"}
    one, two = rows[first.key[-1]], rows[second.key[-1]]
    assert (one.browser_seconds, one.away_seconds, one.times_away) == (0.04, 0.015, 1)
    assert (one.seconds, one.times_shown) == (0.04, 1)
    assert (two.browser_seconds, two.away_seconds) == (None, None)
    assert two.seconds == two.server_seconds is not None


def test_a_reload_leaves_the_time_to_the_server(client, engine, study, link):
    page = walk(client, link, until="item-")
    read(client, link)
    answer(client, page, timing='{"ms":1,"away_ms":0,"focus_log":[]}')
    (row,) = (row for row in on(engine, read_rows, study) if row.kind == "item")
    assert row.times_shown == 2
    assert row.seconds == row.server_seconds != row.browser_seconds == 0.001


def test_unused_personal_links_do_not_close_the_open_one(client, engine, study, monkeypatch):
    monkeypatch.setattr(participant_pages, "MOST_IDLE_NEWCOMERS", 2)
    on(engine, invite, study, 5)
    data = {"token": client.app.state.context.signer.token("join")}
    codes = [client.post(f"/join/{study.join_code}", data=data).status_code for _ in range(3)]
    assert codes == [303, 303, 429]


def test_a_script_is_told_what_is_missing(client, link):
    page = walk(client, link, until="item-")
    fields = {"token": page.token}
    reply = client.post(page.address, data=fields, headers={"accept": "application/json"})
    assert reply.status_code == 422
    assert reply.json() == {"saved": False, "notice": "Please choose an action."}


@pytest.mark.parametrize("origin", ["http://[", "http://evil.example", "null", "://", ""])
def test_a_form_from_elsewhere_is_refused(sqlite_client, sqlite_engine, sqlite_study, origin):
    (link,) = on(sqlite_engine, invite, sqlite_study, 1)
    page = read(sqlite_client, link)
    headers = {"origin": origin}
    reply = sqlite_client.post(page.address, data=filled_in(page), headers=headers)
    assert reply.status_code == 403
