"""From policies to a running questionnaire."""

import asyncio
import os
import re
import secrets
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import h11
import uvicorn
from fastapi import FastAPI
from sqlalchemy import Connection
from uvicorn.protocols.http.h11_impl import H11Protocol

from crisptree.base.errors import CrisptreeError
from crisptree.base.files import read_text
from crisptree.crisp import CrispTree
from crisptree.lab.study.database import create_study, find_study
from crisptree.lab.study.definition import define
from crisptree.lab.study.drawing import KINDS, Drawing, cartpole_drawings, load_drawing
from crisptree.lab.study.linear_mlp import LinearMLP, States
from crisptree.lab.study.questionnaire import NAME, Questionnaire
from crisptree.lab.study.records import Study
from crisptree.lab.study.web.security import SHORTEST_SECRET

SECRET_VARIABLE = "CRISPTREE_STUDY_SECRET"
REQUEST_SECONDS = 20.0
"""Seconds in which a request must arrive whole."""


def load_drawings(policies: Sequence[str]) -> list[Drawing]:
    """The policies named on the command line, `FILE` or `KIND:FILE`; CartPole's if none is."""
    found = []
    for each in policies:
        kind, colon, path = each.partition(":")
        if colon and kind in KINDS and not Path(each).exists():
            found.append(load_drawing(path, kind))
        else:
            found.append(load_drawing(each))
    return found or cartpole_drawings()


def open_study(
    connection: Connection,
    name: str,
    policies: Sequence[str],
    questionnaire: Questionnaire | None,
    *,
    n_items: int,
    seed: int,
    visit: Callable[[CrispTree | LinearMLP], States],
) -> Study:
    """The study of that name: the one in the database, or a new one.

    `visit` gives the states a policy meets in its environment. A study that people may have taken
    part in never changes: other policies or another questionnaire than it was set up with are
    refused.
    """
    if not re.fullmatch(NAME, name):
        raise CrisptreeError(
            f"the study's name is {name!r:.40}; it must be a-z, 0-9, _ and -, at most 32 of them"
        )
    study = find_study(connection, name)
    if study is None:
        drawings = load_drawings(policies)
        visited = [(drawing, visit(drawing.policy)) for drawing in drawings]
        definition = define(visited, questionnaire or Questionnaire(), n_items, seed)
        return create_study(connection, name, definition)
    stored = study.definition
    drawings = load_drawings(policies) if policies else [block.drawing for block in stored.blocks]
    if not stored.asks_the_same(drawings, questionnaire or stored.questionnaire):
        raise CrisptreeError(
            f"the study {name!r} was set up with other policies or another questionnaire and "
            "cannot change any more; another --name makes a new study"
        )
    return study


def researcher_secret(secret_file: Path | None) -> tuple[str, bool]:
    """The secret from a file or the environment, or a new one; and whether it is new."""
    if secret_file is not None:
        try:
            secret = read_text(secret_file).strip()
        except (OSError, ValueError) as error:
            raise CrisptreeError(f"cannot read the secret in {secret_file}: {error}") from None
    elif SECRET_VARIABLE in os.environ:
        secret = os.environ[SECRET_VARIABLE]
    else:
        return secrets.token_urlsafe(18), True
    if len(secret) < SHORTEST_SECRET:
        raise CrisptreeError(
            f"the secret has {len(secret)} characters; it must have at least {SHORTEST_SECRET}"
        )
    return secret, False


def listen(host: str, port: int) -> socket.socket:
    """A socket for the server, bound before any address is printed."""
    if not host.strip() or not 0 <= port <= 65535:
        raise CrisptreeError(
            f"cannot listen at {host!r}, port {port}; a host has a name, ports go from 0 to 65535"
        )
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        # Names that are none are refused here: the next call would leave its socket open.
        socket.getaddrinfo(host, port, family)
        return socket.create_server((host, port), family=family, backlog=1024)
    except (OSError, TypeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise CrisptreeError(f"cannot listen at {host}, port {port}: {reason}") from None


def url_of(host: str, listener: socket.socket) -> str:
    """Where a browser on this machine finds the server."""
    port = listener.getsockname()[1]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class TimedProtocol(H11Protocol):
    """HTTP/1.1 that closes a connection whose request does not arrive whole in time.

    Without it, somebody who sends a few bytes of many requests keeps all connections to
    themselves. Connections without a request are closed by uvicorn's own timeout.
    """

    request_seconds = REQUEST_SECONDS
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wait_for_request()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            self._wait_for_request()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait_for_request(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.request_seconds, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def server_config(app: FastAPI) -> uvicorn.Config:
    """How the server runs. Addresses hold secret links, so requests are not logged."""
    return uvicorn.Config(
        app, http=TimedProtocol, access_log=False, server_header=False, log_level="warning"
    )


def serve(app: FastAPI, listener: socket.socket) -> None:
    """Serve the questionnaire until interrupted."""
    uvicorn.Server(server_config(app)).run(sockets=[listener])
