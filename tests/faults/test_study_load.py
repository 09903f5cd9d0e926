"""150 people answer at once on PostgreSQL while the server and the database are killed."""

import numpy as np
import pytest
from cluster_fixture import cluster as cluster
from load_run import KillableServer, load_run

from crisptree.lab.study.definition import define
from crisptree.lab.study.drawing import cartpole_drawings
from crisptree.lab.study.questionnaire import Questionnaire

KIND = "answers of 150 people, server and database killed"
PEOPLE = 150
MOST_SECONDS = 200.0
"""On a slow machine those who have not finished by then go home; what they sent is checked."""

pytestmark = pytest.mark.faults


def test_150_people_while_server_and_database_are_killed(cluster, tmp_path, cases):
    states = np.random.default_rng(0).normal(size=(3000, 4)) * [0.5, 0.3, 0.03, 0.4]
    drawings = [(drawing, states) for drawing in cartpole_drawings()[:2]]
    definition = define(drawings, Questionnaire(), n_items=1, seed=0)
    kills = [
        KillableServer.kill_and_start,
        lambda server: cluster.kill_server(),
        KillableServer.kill_and_start,
        lambda server: cluster.kill_server(),
    ]
    found = load_run(cluster.new_database(), definition, PEOPLE, tmp_path, kills, MOST_SECONDS)
    print(found)
    assert found.kills >= 2
    assert "Traceback" not in (tmp_path / "server.log").read_text()
    failures = ["lost"] * found.lost + ["stored twice"] * found.repeated
    failures += ["unbalanced"] * found.unbalanced
    cases(found.confirmed, failures)
