"""Studies on both databases, and people who fill them in."""

import sys
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient

from crisptree.lab.study.database import create_study, open_engine
from crisptree.lab.study.definition import define
from crisptree.lab.study.drawing import cartpole_drawings
from crisptree.lab.study.questionnaire import PAPER_STATEMENTS, Question, Questionnaire
from crisptree.lab.study.web import create_app

sys.path.insert(0, str(Path(__file__).parent))

from cluster_fixture import cluster as cluster

SECRET = "a secret for tests"


@pytest.fixture(scope="session")
def visited():
    """States like those CartPole passes, without playing."""
    scale = np.array([0.5, 0.3, 0.03, 0.4])
    return np.random.default_rng(0).normal(size=(3000, 4)) * scale


@pytest.fixture(scope="session")
def definition(visited):
    own = Questionnaire(
        questions=(
            Question("code", "Years of programming?", ("0", "1-5", "6+")),
            Question("job", "What do you do?"),
        ),
        statements=PAPER_STATEMENTS,
    )
    return define([(drawing, visited) for drawing in cartpole_drawings()], own, 5, 0)


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path):
    """An empty database of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "study.db")
    return request.getfixturevalue("cluster").new_database()


@pytest.fixture
def engine(database):
    engine = open_engine(database)
    yield engine
    engine.dispose()


@pytest.fixture
def study(engine, definition):
    with engine.begin() as connection:
        return create_study(connection, "study", definition)


@pytest.fixture
def app(engine, study):
    return create_app(engine, study, secret=SECRET, url="http://testserver")


@pytest.fixture
def client(app):
    with TestClient(app, follow_redirects=False) as client:
        yield client


@pytest.fixture
def sqlite_engine(tmp_path):
    engine = open_engine(str(tmp_path / "only.db"))
    yield engine
    engine.dispose()


@pytest.fixture
def sqlite_study(sqlite_engine, definition):
    with sqlite_engine.begin() as connection:
        return create_study(connection, "study", definition)


@pytest.fixture
def hasty_client(sqlite_client):
    """A client for whose rate limits no time passes, however slow the machine is."""
    limits = sqlite_client.app.state.context.limits
    for limit in (limits.participant, limits.stranger, limits.newcomer, limits.sign_in):
        limit._clock = lambda: 0.0
    return sqlite_client


@pytest.fixture
def sqlite_client(sqlite_engine, sqlite_study):
    app = create_app(sqlite_engine, sqlite_study, secret=SECRET, url="http://testserver")
    with TestClient(app, follow_redirects=False) as client:
        yield client
