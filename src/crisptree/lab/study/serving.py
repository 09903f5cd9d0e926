"""From policies to a running questionnaire."""

import os
import secrets
import socket
from collections.abc import Callable, Sequence
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from sqlalchemy import Connection

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.lab.study.aid import KINDS, Aid, States
from crisptree.lab.study.aids import cartpole_aids, load_aid
from crisptree.lab.study.definition import define
from crisptree.lab.study.mlp import LinearMLP
from crisptree.lab.study.questionnaire import NAME, Questionnaire
from crisptree.lab.study.store import Study, create_study, find_study
from crisptree.lab.study.web.guard import SHORTEST_SECRET

SECRET_VARIABLE = "CRISPTREE_STUDY_SECRET"
Visit = Callable[[CrispTree | LinearMLP, str], States]
"""The states a policy visits in an environment."""


def load_aids(policies: Sequence[str]) -> list[Aid]:
    """The aids named on the command line, `FILE` or `KIND:FILE`; CartPole's where none is."""
    found = []
    for each in policies:
        kind, colon, path = each.partition(":")
        if colon and kind in KINDS and not Path(each).exists():
            found.append(load_aid(path, kind))
        else:
            found.append(load_aid(each))
    return found or cartpole_aids()


def open_study(
    connection: Connection,
    name: str,
    policies: Sequence[str],
    questionnaire: Questionnaire | None,
    *,
    n_items: int,
    seed: int,
    visit: Visit,
) -> Study:
    """The study of that name: the one in the database, or a new one.

    A study people may already have taken part in never changes: other policies or another
    questionnaire than it was set up with are refused.
    """
    if not NAME.fullmatch(name):
        raise CrisptreeError(
            f"the study's name is {name!r:.40}; it must be a-z, 0-9, _ and -, at most 32 of them"
        )
    study = find_study(connection, name)
    if study is None:
        aids = load_aids(policies)
        visited = [(aid, visit(aid.policy, _env_of(aid))) for aid in aids]
        definition = define(visited, questionnaire or Questionnaire(), n_items, seed)
        return create_study(connection, name, definition)
    stored = study.definition
    aids = load_aids(policies) if policies else [block.aid for block in stored.blocks]
    if not stored.asks_the_same(aids, questionnaire or stored.questionnaire):
        raise CrisptreeError(
            f"the study {name!r} was set up with other policies or another questionnaire and "
            "cannot change any more; another --name makes a new study"
        )
    return study


def researcher_secret(secret_file: Path | None) -> tuple[str, bool]:
    """The secret from a file or the environment, or a new one; and whether it is new."""
    if secret_file is not None:
        try:
            secret = secret_file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
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


def _env_of(aid: Aid) -> str:
    env_id = aid.policy.env_id
    if env_id is None:
        raise CrisptreeError(
            "a policy does not say its environment (env_id), so no states can be drawn from its "
            "episodes; write env_id into the policy file"
        )
    return env_id


def listen(host: str, port: int) -> socket.socket:
    """A socket for the server, taken before anything is promised."""
    if not 0 <= port <= 65535:
        raise CrisptreeError(f"cannot listen at port {port}; ports go from 0 to 65535")
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        reason = error.strerror or error
        raise CrisptreeError(f"cannot listen at {host}, port {port}: {reason}") from None


def url_of(host: str, listener: socket.socket) -> str:
    """Where a browser on this machine finds the server."""
    port = listener.getsockname()[1]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(app: FastAPI, listener: socket.socket) -> None:
    """Until interrupted. Addresses hold secret links, so requests are not logged."""
    config = uvicorn.Config(app, access_log=False, server_header=False, log_level="warning")
    uvicorn.Server(config).run(sockets=[listener])
