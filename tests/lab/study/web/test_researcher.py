import csv
import io
import re

import pytest
from people import on, read, walk

from crisptree.lab.study.store import all_answers, all_participants, invite
from crisptree.lab.study.web import create_app

SECRET = "a secret for tests"


def token(page) -> str:
    return re.search(r'name="token" value="([^"]+)"', page.text)[1]


def sign_in(client, secret=SECRET):
    page = client.get("/researcher")
    return client.post("/researcher/login", data={"token": token(page), "secret": secret})


def test_strangers_see_a_login_and_nothing_else(client, study):
    page = client.get("/researcher")
    assert page.status_code == 200 and study.join_code not in page.text
    for address in ("/researcher/answers.csv", "/researcher/preview"):
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


def test_a_cookie_over_https_stays_there(sqlite_engine, sqlite_study):
    from starlette.testclient import TestClient

    app = create_app(sqlite_engine, sqlite_study, secret=SECRET, url="https://testserver")
    with TestClient(app, base_url="https://testserver", follow_redirects=False) as client:
        assert "secure" in sign_in(client).headers["set-cookie"].lower()


def test_a_forged_cookie_opens_nothing(client):
    sign_in(client)
    good = client.cookies["crisptree_researcher"]
    client.cookies.clear()
    for bad in ("x", good[:-2] + "xx", "researcher", good.replace("researcher", "root")):
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
    assert read(client, links[2]).step == "consent"


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
