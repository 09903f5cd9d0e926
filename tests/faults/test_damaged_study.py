"""Commands on damaged study databases: an answer or one line, never a traceback."""

import contextlib
import io
import random
from pathlib import Path

import numpy as np
import pytest
from people import walk
from starlette.testclient import TestClient

from crisptree import cli
from crisptree.lab.study.database import create_study, invite, open_engine, truncate_journal
from crisptree.lab.study.definition import define
from crisptree.lab.study.drawing import cartpole_drawings
from crisptree.lab.study.questionnaire import Questionnaire
from crisptree.lab.study.web import create_app

KIND = "commands on damaged study databases"
DATABASES = 100
COMMANDS = (["export"], ["report"], ["invite", "--people", "1"], ["delete", "2"])

pytestmark = pytest.mark.faults


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> bytes:
    """A database with three people who finished."""
    path = tmp_path_factory.mktemp("sound") / "study.db"
    engine = open_engine(str(path))
    states = np.random.default_rng(0).normal(size=(500, 4)) * [0.5, 0.3, 0.03, 0.4]
    drawings = [(drawing, states) for drawing in cartpole_drawings()]
    with engine.begin() as connection:
        study = create_study(connection, "study", define(drawings, Questionnaire(), 5, 0))
        links = invite(connection, study, 3)
    app = create_app(engine, study, secret="a secret for tests", url="http://x")
    with TestClient(app, follow_redirects=False) as client:
        for link in links:
            walk(client, link)
    truncate_journal(engine)
    engine.dispose()
    return path.read_bytes()


def damaged(content: bytes, rng: random.Random) -> bytes:
    data = bytearray(content)
    match rng.choice(["bytes", "bytes", "bytes", "cut", "page", "text"]):
        case "bytes":
            for _ in range(rng.choice([1, 3, 30, 300])):
                data[rng.randrange(len(data))] = rng.randrange(256)
        case "cut":
            del data[rng.randrange(len(data)) :]
        case "page":
            at = rng.randrange(len(data) - 4096)
            data[at : at + 4096] = bytes(4096)
        case "text":  # still a sound database, but an answer that no page gives
            at = data.find(b'"action"', rng.randrange(len(data)))
            data[at : at + 8] = b'"actiox"'
    return bytes(data)


def test_damaged_databases_are_one_line(sound, tmp_path, monkeypatch, cases):
    failures = []
    for seed in range(DATABASES):
        content = damaged(sound, random.Random(seed))
        for at, command in enumerate(COMMANDS):
            directory = tmp_path / f"{seed}-{at}"
            directory.mkdir()
            monkeypatch.chdir(directory)
            Path("study.db").write_bytes(content)
            said = io.StringIO()
            try:
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
                    cli.main(["study", *command])
            except SystemExit as end:
                if end.code != 2 or said.getvalue().count("\n") != 1:
                    failures.append((seed, command, end.code, said.getvalue()))
            except Exception as error:
                failures.append((seed, command, repr(error)))
    cases(DATABASES * len(COMMANDS), failures)
