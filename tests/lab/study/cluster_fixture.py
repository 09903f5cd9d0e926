"""The fixture `cluster`: a PostgreSQL of the tests' own on loopback, or no test of it."""

import pytest
from postgres_cluster import Cluster, find_programs


@pytest.fixture(scope="session")
def cluster():
    programs = find_programs()
    if programs is None:
        pytest.skip("PostgreSQL's initdb and postgres are not installed")
    with Cluster.started(programs) as cluster:
        yield cluster
