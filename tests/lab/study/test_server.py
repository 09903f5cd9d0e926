import asyncio
import contextlib
import socket
import threading
import time

import numpy as np
import pytest
import uvicorn
from fastapi import FastAPI
from people import on

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.lab.study.questionnaire import Questionnaire
from crisptree.lab.study.server import (
    TimedProtocol,
    listen,
    load_drawings,
    open_study,
    researcher_secret,
    server_config,
    url_of,
)

TREE = CrispTree.from_nested(("a", 0.1, "right", "left"), ("a",), ("left", "right"))


@pytest.fixture
def no_secret(monkeypatch):
    monkeypatch.delenv("CRISPTREE_STUDY_SECRET", raising=False)


def visit(policy):
    return np.random.default_rng(0).normal(size=(300, policy.n_features))


def opened(engine, name="study", policies=(), own=None):
    return on(engine, open_study, name, policies, own, n_items=5, seed=0, visit=visit)


def test_policies_by_file_and_kind(tmp_path):
    TREE.save(tmp_path / "p.json")
    path = str(tmp_path / "p.json")
    assert [drawing.kind for drawing in load_drawings([path, f"tree:{path}", f"list:{path}"])] == [
        "list",
        "tree",
        "list",
    ]
    assert [drawing.kind for drawing in load_drawings([])] == ["tree", "list", "mlp"]


def test_a_study_goes_on_where_it_was(sqlite_engine):
    first = opened(sqlite_engine)
    assert opened(sqlite_engine).join_code == first.join_code
    assert opened(sqlite_engine, own=Questionnaire()).join_code == first.join_code
    assert opened(sqlite_engine, name="other").join_code != first.join_code


def test_a_study_never_changes(sqlite_engine, tmp_path):
    opened(sqlite_engine)
    TREE.save(tmp_path / "p.json")
    path = str(tmp_path / "p.json")
    with pytest.raises(CrisptreeError, match="cannot change any more"):
        opened(sqlite_engine, policies=[f"tree:{path}", path])
    with pytest.raises(CrisptreeError, match="cannot change any more"):
        opened(sqlite_engine, own=Questionnaire(title="Other"))


def test_names_are_simple(sqlite_engine):
    with pytest.raises(CrisptreeError, match="must be a-z"):
        opened(sqlite_engine, name='a"b')


def test_a_secret_comes_from_a_file_the_environment_or_chance(tmp_path, monkeypatch, no_secret):
    secret, is_new = researcher_secret(None)
    assert is_new and len(secret) >= 20 and secret != researcher_secret(None)[0]
    monkeypatch.setenv("CRISPTREE_STUDY_SECRET", "from the environment")
    assert researcher_secret(None) == ("from the environment", False)
    (tmp_path / "secret").write_text("from the file\n")
    assert researcher_secret(tmp_path / "secret") == ("from the file", False)


def test_a_bad_secret_is_refused(tmp_path, monkeypatch, no_secret):
    monkeypatch.setenv("CRISPTREE_STUDY_SECRET", "short")
    with pytest.raises(CrisptreeError, match="has 5 characters"):
        researcher_secret(None)
    with pytest.raises(CrisptreeError, match="cannot read the secret"):
        researcher_secret(tmp_path / "none")


def test_an_address_with_colons_stands_in_brackets():
    with listen("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        assert url_of("127.0.0.1", listener) == f"http://127.0.0.1:{port}"
        assert url_of("::1", listener) == f"http://[::1]:{port}"


def test_a_port_in_use_is_told():
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CrisptreeError, match=f"cannot listen at 127.0.0.1, port {port}"):
            listen("127.0.0.1", port)
    for host, port in (("127.0.0.1", 99999), ("", 0), ("☃" * 70, 0), ("256.0.0.1", 0)):
        with pytest.raises(CrisptreeError, match="cannot listen"):
            listen(host, port)


class Impatient(TimedProtocol):
    request_seconds = 0.5


async def echo(scope, receive, send):
    """An application that waits for the whole body."""
    message = {"more_body": True}
    while message.get("more_body"):
        message = await receive()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"done"})


@contextlib.contextmanager
def serving(app):
    config = uvicorn.Config(
        app, http=Impatient, log_level="error", lifespan="off", timeout_keep_alive=1
    )
    server = uvicorn.Server(config)
    listener = listen("127.0.0.1", 0)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield listener.getsockname()[1]
    server.should_exit = True
    thread.join(timeout=30)


def answered_after(port, first, trickle=b""):
    """What comes back, and after how many seconds, if a byte of `trickle` follows now and then."""
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(first)
        connection.settimeout(0.1)
        received = b""
        while time.monotonic() < began + 8:
            try:
                chunk = connection.recv(4096)
                received += chunk
                if not chunk:
                    break
            except TimeoutError:
                with contextlib.suppress(OSError):
                    connection.sendall(trickle)
            except ConnectionError:
                break
    return received, time.monotonic() - began


HALF_HEADER = b"GET / HTTP/1.1\r\nHost: x\r\n"
HALF_BODY = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc"
WHOLE = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


@pytest.mark.parametrize(
    ("first", "trickle"),
    [
        (b"", b""),
        (HALF_HEADER, b""),
        (HALF_HEADER, b"a"),
        (HALF_BODY, b""),
        (HALF_BODY, b"a"),
        (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", b""),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" + HALF_HEADER, b""),
    ],
)
def test_a_request_that_does_not_arrive_is_cut_off(first, trickle):
    with serving(echo) as port:
        received, seconds = answered_after(port, first, trickle)
        assert seconds < 5  # the second request of a connection is cut off by uvicorn, after 1
        assert received.count(b"HTTP/1.1 200") == first.count(b"\r\n\r\nGET")
        assert b"done" in answered_after(port, WHOLE)[0]


def test_an_answer_may_take_longer_than_its_request():
    async def slow(scope, receive, send):
        await asyncio.sleep(1.0)
        await echo(scope, receive, send)

    with serving(slow) as port:
        assert b"done" in answered_after(port, WHOLE)[0]


def test_the_questionnaire_is_served_with_a_time_limit():
    config = server_config(FastAPI())
    assert config.http is TimedProtocol and TimedProtocol.request_seconds <= 30
    assert not config.access_log
