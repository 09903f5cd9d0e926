"""The tests' own PostgreSQL ends with them, however they end."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psycopg
import pytest
from postgres_cluster import Cluster, find_programs

PROGRAMS = find_programs()
pytestmark = pytest.mark.skipif(PROGRAMS is None, reason="PostgreSQL is not installed")
WITHIN_S = 30

TEST_RUN = textwrap.dedent(
    """
    import time

    def test_with_a_database(cluster, capsys):
        with capsys.disabled():
            print("READY", cluster.port, cluster.directory, cluster.supervisor, flush=True)
        time.sleep(600)
    """
)


def is_alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until(holds, what: str) -> None:
    until = time.monotonic() + WITHIN_S
    while not holds():
        assert time.monotonic() < until, what
        time.sleep(0.05)


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_test_run_leaves_no_postgresql(tmp_path, end):
    (tmp_path / "conftest.py").write_text(
        (Path(__file__).parent / "cluster_fixture.py").read_text()
    )
    (tmp_path / "test_it.py").write_text(TEST_RUN)
    tests = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert tests.stdout is not None
    line = next((line for line in tests.stdout if "READY" in line), "")
    _, port, directory, supervisor = line[line.index("READY") :].split()
    server = int((Path(directory) / "data" / "postmaster.pid").read_text().split()[0])
    assert is_alive(int(supervisor)) and is_alive(server)
    tests.send_signal(end)
    tests.stdout.close()
    tests.wait(timeout=WITHIN_S)
    wait_until(lambda: not is_alive(server), "PostgreSQL still runs")
    wait_until(lambda: not is_alive(int(supervisor)), "its supervisor still runs")
    wait_until(lambda: not Path(directory).exists(), "its directory is still there")
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(f"postgresql://study@127.0.0.1:{port}/postgres", connect_timeout=2)


def test_a_killed_server_comes_back_with_what_was_committed():
    assert PROGRAMS is not None
    with Cluster.started(PROGRAMS) as cluster:
        database = cluster.new_database()
        with psycopg.connect(database) as connection:
            connection.execute("CREATE TABLE x AS SELECT 5 AS y")
        cluster.kill_server()

        def reads_five() -> bool:
            try:
                with psycopg.connect(database, connect_timeout=2) as connection:
                    return connection.execute("SELECT y FROM x").fetchone() == (5,)
            except psycopg.OperationalError:
                return False

        wait_until(reads_five, "the server did not come back")
