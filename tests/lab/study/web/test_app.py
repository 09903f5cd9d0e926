import pytest
from people import filled_in, on, read
from sqlalchemy import event
from sqlalchemy.exc import IntegrityError, OperationalError
from starlette.testclient import TestClient

from crisptree.base.errors import CrisptreeError
from crisptree.lab.study.database import all_answers, invite
from crisptree.lab.study.web import create_app

SECRET = "a secret for tests"


def test_a_short_secret_is_refused(sqlite_engine, sqlite_study):
    with pytest.raises(CrisptreeError, match="at least 12 characters"):
        create_app(sqlite_engine, sqlite_study, secret="short", url="http://x")


@pytest.mark.parametrize(
    "address", ["/", "/researcher", "/static/study.css", "/static/study.js", "/none", "/p/none"]
)
def test_every_answer_carries_the_security_headers(sqlite_client, address):
    headers = sqlite_client.get(address).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"


def test_pages_bring_no_scripts_or_styles_of_their_own(sqlite_client, sqlite_engine, sqlite_study):
    """The policy above would block them."""
    from people import walk

    (link,) = on(sqlite_engine, invite, sqlite_study, 1)
    page = walk(sqlite_client, link, until="item-")
    for text in (page.text, sqlite_client.get("/researcher").text):
        assert " style=" not in text and "<style" not in text and "onclick" not in text
        assert text.count("<script") == 1 and 'src="/static/study.js"' in text


def test_the_programs_interface_is_not_shown_to_strangers(sqlite_client):
    for address in ("/docs", "/redoc", "/openapi.json"):
        assert sqlite_client.get(address).status_code == 404


def test_files_outside_are_out_of_reach(sqlite_client):
    for address in ("/static/../web/app.py", "/static/%2e%2e/web/app.py", "/static/..%2fapp.py"):
        assert sqlite_client.get(address).status_code == 404


def test_too_much_is_refused(sqlite_client, sqlite_engine, sqlite_study):
    (link,) = on(sqlite_engine, invite, sqlite_study, 1)
    page = read(sqlite_client, link)
    reply = sqlite_client.post(page.address, data={**filled_in(page), "x": "y" * 70_000})
    assert reply.status_code == 413
    many = {**filled_in(page), **{f"x{at}": "" for at in range(200)}}
    assert sqlite_client.post(page.address, data=many).status_code == 400
    assert on(sqlite_engine, all_answers, sqlite_study) == []


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"{}", "application/json", 415),
        (b"a=1", "text/plain", 415),
        (b"a=1", "", 415),
        (b"a=1&a=2", "application/x-www-form-urlencoded", 400),
        (b"a=%ff", "application/x-www-form-urlencoded", 400),
        (b"a=%00", "application/x-www-form-urlencoded", 400),
        ("a=é".encode(), "application/x-www-form-urlencoded", 400),
    ],
)
def test_only_forms_are_read(sqlite_client, sqlite_engine, sqlite_study, content, kind, status):
    (link,) = on(sqlite_engine, invite, sqlite_study, 1)
    reply = sqlite_client.post(
        f"/p/{link}/consent", content=content, headers={"content-type": kind}
    )
    assert reply.status_code == status


def test_a_stranger_who_keeps_guessing_is_slowed_down(hasty_client, sqlite_engine, sqlite_study):
    codes = [hasty_client.get(f"/p/{at:032d}").status_code for at in range(25)]
    assert codes == [404] * 20 + [429] * 5
    (link,) = on(sqlite_engine, invite, sqlite_study, 1)
    assert read(hasty_client, link).status == 200  # others at the same address go on


def test_a_participant_in_a_great_hurry_is_slowed_down(hasty_client, sqlite_engine, sqlite_study):
    one, two = on(sqlite_engine, invite, sqlite_study, 2)
    codes = [hasty_client.get(f"/p/{one}/declined").status_code for _ in range(125)]
    assert codes == [200] * 120 + [429] * 5
    assert read(hasty_client, two).status == 200


def test_without_an_open_link_nobody_joins(sqlite_engine, sqlite_study):
    app = create_app(sqlite_engine, sqlite_study, secret=SECRET, url="http://x", open_link=False)
    with TestClient(app, follow_redirects=False) as client:
        address = f"/join/{sqlite_study.join_code}"
        assert client.get(address).status_code == 404
        data = {"token": app.state.context.signer.token("join")}
        assert client.post(address, data=data).status_code == 404


def test_newcomers_are_let_in_one_after_the_other(hasty_client, sqlite_study):
    data = {"token": hasty_client.app.state.context.signer.token("join")}
    address = f"/join/{sqlite_study.join_code}"
    codes = [hasty_client.post(address, data=data).status_code for _ in range(65)]
    assert codes == [303] * 60 + [429] * 5


@pytest.mark.parametrize(("error", "status"), [(OperationalError, 503), (IntegrityError, 409)])
def test_when_the_database_fails_nothing_is_promised(
    sqlite_client, sqlite_engine, sqlite_study, error, status
):
    (link,) = on(sqlite_engine, invite, sqlite_study, 1)
    page = read(sqlite_client, link)

    def fail(connection, cursor, statement, *rest):
        if statement.startswith("INSERT INTO crisptree_answers"):
            raise error(statement, None, Exception("gone"))

    event.listen(sqlite_engine, "before_cursor_execute", fail)
    reply = sqlite_client.post(page.address, data=filled_in(page))
    event.remove(sqlite_engine, "before_cursor_execute", fail)
    assert reply.status_code == status and "gone" not in reply.text
    assert on(sqlite_engine, all_answers, sqlite_study) == []
    assert sqlite_client.post(page.address, data=filled_in(page)).status_code == 303
