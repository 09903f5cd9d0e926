"""Whatever is sent: no 5xx, and nothing in the database that no page asks for."""

from dataclasses import replace
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from people import on, walk
from starlette.testclient import TestClient

from crisptree.lab.study.answer_table import as_csv
from crisptree.lab.study.database import (
    all_answers,
    all_participants,
    create_study,
    invite,
    open_engine,
    read_rows,
)
from crisptree.lab.study.page_sequence import page_sequence
from crisptree.lab.study.web import create_app
from crisptree.lab.study.web.context import Limits
from crisptree.lab.study.web.security import RateLimit

SECRET = "a secret for tests"
TEXT = st.text(max_size=40)
EVIL = st.sampled_from(
    [
        "'; DROP TABLE crisptree_answers;--",
        "<script>alert(1)</script>",
        "\x00",
        "\ud7ff",
        "٣",
        "1e9",
        "../../etc/passwd",
        "%00",
        "{{7*7}}",
        "-1",
        "0",
        "1",
        "2",
        "7",
        "yes",
        "no",
        "x" * 6000,
    ]
)
NAMES = st.sampled_from(
    [
        "action-0",
        "answer",
        "comment",
        "timing",
        "token",
        "question-code",
        "question-job",
        "rating-logic",
        "rating-no_sense",
        "secret",
        "count",
        "number",
    ]
)
TIMING = st.one_of(
    EVIL,
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
        max_leaves=5,
    ).map(repr),
    st.builds(
        '{{"ms":{},"away_ms":{},"focus_log":[[{},"blur"]]}}'.format,
        st.integers(-5, 10**12),
        st.integers(-5, 10**12),
        st.integers(-5, 10**12),
    ),
)
FIELDS = st.dictionaries(NAMES | TEXT, EVIL | TEXT | TIMING, max_size=6)
BODIES = st.one_of(FIELDS, st.binary(max_size=200))
KINDS = st.sampled_from(
    [
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json",
        "",
        "application/x-www-form-urlencoded; charset=\x7f",
    ]
)


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory, definition):
    """An application without rate limits, somebody in the middle of it, and the researcher in."""
    engine = open_engine(str(tmp_path_factory.mktemp("fuzz") / "study.db"))
    study = on(engine, create_study, "study", definition)
    app = create_app(engine, study, secret=SECRET, url="http://testserver")
    free = Limits(*(RateLimit(10**9, 1e9) for _ in range(4)))
    app.state.context = replace(app.state.context, limits=free)
    with TestClient(app, follow_redirects=False) as client:
        (link,) = on(engine, invite, study, 1)
        walk(client, link, until="ratings-")
        token = app.state.context.sessions.open()
        client.cookies.set("crisptree_researcher", token, path="/researcher")
        yield client, engine, study, link
    engine.dispose()


def addresses(study, link):
    people = [page.key for page in page_sequence(study.definition, None)]
    known = ["consent", "item-tree-1", "ratings-tree", "practice-mlp", "closing", *people]
    segments = st.sampled_from(known) | EVIL | TEXT
    return st.one_of(
        st.builds("/p/{}".format, st.just(link) | EVIL | TEXT),
        st.builds("/p/{}/{}".format, st.just(link) | TEXT, segments),
        st.builds("/join/{}".format, st.just(study.join_code) | EVIL | TEXT),
        st.builds(
            "/researcher{}".format,
            st.sampled_from(["", "/login", "/logout", "/invite", "/delete", "/answers.csv"])
            | st.just("/preview"),
        ),
        st.builds("/static/{}".format, EVIL | TEXT),
        st.builds("/{}".format, EVIL | TEXT),
    )


@given(data=st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_nothing_breaks_and_no_rubbish_is_stored(fuzzed, data):
    client, engine, study, link = fuzzed
    who = on(engine, all_participants, study)[0]
    method = data.draw(st.sampled_from(["GET", "POST", "POST", "POST", "PUT", "DELETE", "HEAD"]))
    address = quote(data.draw(addresses(study, link)).encode("utf-8", "replace"), safe="/%")
    body = data.draw(BODIES)
    headers = {"content-type": data.draw(KINDS).encode("latin-1")}
    if isinstance(body, dict) and data.draw(st.booleans()):
        signer = client.app.state.context.signer
        purpose = data.draw(
            st.sampled_from([("login",), ("join",), ("researcher", _session(client))])
            | st.just((who.link_hash, address.rsplit("/", 1)[-1]))
        )
        body = {**body, "token": signer.token(*purpose)}
    reply = client.request(
        method,
        address,
        **({"data": body} if isinstance(body, dict) else {"content": body}),
        headers=headers if isinstance(body, bytes) or data.draw(st.booleans()) else None,
    )
    assert reply.status_code < 500
    assert SECRET not in reply.text
    legitimate(engine, study)


def _session(client) -> str:
    return client.cookies.get("crisptree_researcher", path="/researcher")


def legitimate(engine, study) -> None:
    """Every stored answer is one that its page offers."""
    definition = study.definition
    people = {who.id: who for who in on(engine, all_participants, study)}
    names = {statement.name for statement in definition.questionnaire.statements}
    for answer in on(engine, all_answers, study):
        assignment = people[answer.participant_id].assignment
        pages = page_sequence(definition, assignment)
        (page,) = (page for page in pages if page.key == answer.page)
        value = answer.value
        match page.kind:
            case "consent":
                assert value == {"agreed": True}
            case "instructions" | "worked":
                assert value == {"read": True}
            case "practice" | "item":
                assert value in ({"action": [0]}, {"action": [1]})
            case "ratings":
                assert set(value) == names and set(value.values()) <= set(range(1, 8))
            case "closing":
                assert set(value) == {"comment", "questions"} and len(value["comment"]) <= 5000
                assert value["questions"]["code"] in ("", "0", "1-5", "6+")
                assert len(value["questions"]["job"]) <= 500
        assert answer.browser_ms is None or 0 <= answer.browser_ms <= 7 * 24 * 3600 * 1000
    as_csv(on(engine, read_rows, study))


@given(data=st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_rightly_signed_forms_with_any_content(fuzzed, data):
    """As above, but every form is signed for the page that is open, so it gets further."""
    client, engine, study, link = fuzzed
    page = client.get(f"/p/{link}")
    if "completion code" in page.text:
        (link,) = on(engine, invite, study, 1)
        page = client.get(f"/p/{link}")
    address = page.text.split('action="')[1].split('"')[0]
    token = page.text.split('name="token" value="')[1].split('"')[0]
    prefilled = {"rating-" + s.name: "3" for s in study.definition.questionnaire.statements}
    base = data.draw(st.sampled_from([{}, {"action-0": "1"}, {"answer": "yes"}, prefilled]))
    reply = client.post(address, data={**base, **data.draw(FIELDS), "token": token})
    assert reply.status_code in (303, 400, 413, 422)
    legitimate(engine, study)
