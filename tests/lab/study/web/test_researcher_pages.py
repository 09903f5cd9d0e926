import csv
import io
import re

import pytest
from people import on, read, walk

from crisptree.lab.study.database import all_answers, all_participants, invite
from crisptree.lab.study.web import create_app

SECRET = "a secret for tests"


def token(page) -> str:
    return re.findall(r'name="token" value="([^"]+)"', page.text)[0]


def sign_in(client, secret=SECRET):
    page = client.get("/researcher")
    return client.post("/researcher/login", data={"token": token(page), "secret": secret})


def test_strangers_see_a_login_and_nothing_else(client, study):
    page = client.get("/researcher")
    assert page.status_code == 200 and study.join_code not in page.text
    for name in ("answers.csv", "preview", "report", "figure.svg", "figure.png"):
        address = f"/researcher/{name}"
        assert client.get(address).status_code == 401
    for address in ("/researcher/invite", "/researcher/delete", "/researcher/logout"):
        reply = client.post(address, data={"token": token(page), "count": "1", "number": "1"})
        assert reply.status_code == 401


def test_the_wrong_secret_opens_nothing(client):
    assert sign_in(client, "not the secret").status_code == 403
    assert client.get("/researcher/preview").status_code == 401


def test_the_secret_opens_a_session_that_scripts_and_sites_cannot_use(client, study):
    reply = sign_in(client)
    cookie = reply.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie and "path=/researcher" in cookie
    page = client.get("/researcher")
    assert study.join_code in page.text
    assert client.post("/researcher/logout", data={"token": token(page)}).status_code == 303
    assert client.get("/researcher/preview").status_code == 401


def test_signing_out_ends_the_session_for_a_copied_cookie_too(client):
    sign_in(client)
    copied = client.cookies["crisptree_researcher"]
    client.post("/researcher/logout", data={"token": token(client.get("/researcher"))})
    client.cookies.clear()
    client.cookies.set("crisptree_researcher", copied, path="/researcher")
    assert client.get("/researcher/preview").status_code == 401
    assert "Sign in" in client.get("/researcher").text


def test_signing_out_leaves_other_sessions_open(client):
    sign_in(client)
    first = client.cookies["crisptree_researcher"]
    client.cookies.clear()
    sign_in(client)
    client.post("/researcher/logout", data={"token": token(client.get("/researcher"))})
    client.cookies.clear()
    client.cookies.set("crisptree_researcher", first, path="/researcher")
    assert client.get("/researcher/preview").status_code == 200


def test_a_session_ends_after_twelve_hours(client, engine, monkeypatch):
    from crisptree.lab.study.database import studies

    sign_in(client)
    later = studies.now_ms() + 12 * 3600 * 1000 + 1
    monkeypatch.setattr(studies, "now_ms", lambda: later)
    assert client.get("/researcher/preview").status_code == 401


def test_the_database_opens_no_session(client, engine):
    from crisptree.lab.study.database.schema import sessions

    sign_in(client)
    with engine.begin() as connection:
        (row,) = connection.execute(sessions.select()).all()
    client.cookies.clear()
    client.cookies.set("crisptree_researcher", row.token_hash, path="/researcher")
    assert client.get("/researcher/preview").status_code == 401


def test_a_cookie_over_https_stays_there(sqlite_engine, sqlite_study):
    from starlette.testclient import TestClient

    app = create_app(sqlite_engine, sqlite_study, secret=SECRET, url="https://testserver")
    with TestClient(app, base_url="https://testserver", follow_redirects=False) as client:
        assert "secure" in sign_in(client).headers["set-cookie"].lower()


def test_a_forged_cookie_opens_nothing(client):
    sign_in(client)
    good = client.cookies["crisptree_researcher"]
    client.cookies.clear()
    for bad in ("x", good[:-2] + "xx", f"{good}x", good.swapcase(), "researcher"):
        client.cookies.set("crisptree_researcher", bad, path="/researcher")
        assert client.get("/researcher/preview").status_code == 401
        client.cookies.clear()


def test_a_new_secret_ends_old_sessions(sqlite_client, sqlite_engine, sqlite_study):
    from starlette.testclient import TestClient

    sign_in(sqlite_client)
    cookie = sqlite_client.cookies["crisptree_researcher"]
    app = create_app(sqlite_engine, sqlite_study, secret="another secret", url="http://x")
    with TestClient(app) as other:
        other.cookies.set("crisptree_researcher", cookie, path="/researcher")
        assert other.get("/researcher/preview").status_code == 401


def test_forms_need_the_sessions_token(client, engine, study):
    login_token = token(client.get("/researcher"))
    sign_in(client)
    for bad in ("", "x", login_token):
        reply = client.post("/researcher/invite", data={"token": bad, "count": "1"})
        assert reply.status_code == 403
    good = token(client.get("/researcher"))
    headers = {"origin": "https://evil.example"}
    reply = client.post("/researcher/invite", data={"token": good, "count": "1"}, headers=headers)
    assert reply.status_code == 403
    assert on(engine, all_participants, study) == []


def test_new_links_work(client, engine, study):
    sign_in(client)
    reply = client.post(
        "/researcher/invite", data={"token": token(client.get("/researcher")), "count": "3"}
    )
    links = re.findall(r"http://testserver/p/([\w-]+)", reply.text)
    assert len(links) == len(on(engine, all_participants, study)) == 3
    assert read(client, links[2]).key == "consent"


@pytest.mark.parametrize("count", ["0", "501", "x", "", "1.0", "٣", "9" * 30])
def test_not_any_number_of_links(sqlite_client, count):
    sign_in(sqlite_client)
    data = {"token": token(sqlite_client.get("/researcher")), "count": count}
    assert sqlite_client.post("/researcher/invite", data=data).status_code == 422


def test_deletion_by_number(client, engine, study):
    one, two = on(engine, invite, study, 2)
    walk(client, one, until="item-")
    walk(client, two, until="item-")
    sign_in(client)
    page = client.get("/researcher")
    reply = client.post("/researcher/delete", data={"token": token(page), "number": "1"})
    assert reply.status_code == 303
    assert client.get(f"/p/{one}").status_code == 404
    assert [who.number for who in on(engine, all_participants, study)] == [2]
    assert len({each.participant_id for each in on(engine, all_answers, study)}) == 1
    reply = client.post("/researcher/delete", data={"token": token(page), "number": "1"})
    assert reply.status_code == 404


def test_the_answers_as_csv(client, engine, study):
    (link,) = on(engine, invite, study, 1)
    walk(client, link)
    sign_in(client)
    reply = client.get("/researcher/answers.csv")
    assert reply.headers["content-disposition"] == 'attachment; filename="study.csv"'
    assert len(list(csv.DictReader(io.StringIO(reply.text)))) == 36


def test_the_preview_shows_every_question_and_its_answer(sqlite_client, sqlite_study):
    sign_in(sqlite_client)
    text = sqlite_client.get("/researcher/preview").text
    assert text.count("<svg") == 3
    for block in sqlite_study.definition.blocks:
        for item in block.items:
            assert item.state[0].replace("-", "−") in text


def test_guessing_is_slowed_down(hasty_client):
    codes = [sign_in(hasty_client, "a wrong secret").status_code for _ in range(8)]
    assert codes == [403] * 5 + [429] * 3
    assert sign_in(hasty_client).status_code == 429


def test_the_report_shows_words_tables_and_figure(client, engine, study):
    for link in on(engine, invite, study, 4):
        walk(client, link)
    sign_in(client)
    reply = client.get("/researcher/report")
    assert reply.status_code == 200
    assert "Four people are analysed" in reply.text
    for heading in ("Per policy", "Statements", "Ratings", "Times", "Left out"):
        assert f"<h2>{heading}</h2>" in reply.text
    assert reply.text.count("<table") >= 6 and 'src="/researcher/figure.svg"' in reply.text
    for kind, start in (("svg", b"<?xml"), ("png", b"\x89PNG")):
        figure = client.get(f"/researcher/figure.{kind}")
        assert figure.status_code == 200 and figure.content.startswith(start)
    assert client.get("/researcher/figure.exe").status_code == 404


def test_a_report_of_nobody_says_so(sqlite_client):
    sign_in(sqlite_client)
    text = sqlite_client.get("/researcher/report").text
    assert "nothing can be said" in text and "<img" not in text
    assert sqlite_client.get("/researcher/figure.svg").status_code == 404
