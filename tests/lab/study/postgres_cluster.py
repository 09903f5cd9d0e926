"""A private PostgreSQL in a temporary directory, on loopback, for as long as the tests run.

A supervisor, this file run as a program, owns the server and the directory. It holds the reading
end of a pipe whose other end the tests hold: however they end, SIGKILL included, the pipe closes,
and the supervisor stops the server and removes the directory. If the server itself is killed, the
supervisor starts it again.

PostgreSQL refuses to run as root; then it runs as `postgres` or `nobody`.
"""

import contextlib
import os
import pwd
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

STARTS_WITHIN_S = 60


def find_programs() -> Path | None:
    """The directory of initdb and postgres, the newest if there are several."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda at: at.parent.name)
    on_path = shutil.which("initdb")
    found += [Path(on_path).parent] if on_path else []
    found = [at for at in found if (at / "initdb").exists() and (at / "postgres").exists()]
    return found[-1] if found else None


@dataclass(frozen=True)
class Cluster:
    port: int
    directory: Path
    supervisor: int
    """The supervisor's process id."""

    def url(self, name: str) -> str:
        return f"postgresql://study@127.0.0.1:{self.port}/{name}"

    def new_database(self) -> str:
        """The URL of a fresh, empty database."""
        name = f"study_{secrets.token_hex(6)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")  # pyright: ignore
        return self.url(name)

    def kill_server(self) -> None:
        """SIGKILL to the server. Its supervisor starts another one."""
        pid = int((self.directory / "data" / "postmaster.pid").read_text().split()[0])
        os.kill(pid, signal.SIGKILL)

    @staticmethod
    @contextlib.contextmanager
    def started(programs: Path) -> Iterator["Cluster"]:
        supervisor = subprocess.Popen(
            [sys.executable, __file__, programs],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # Ctrl-C ends the tests; these then end the supervisor
        )
        assert supervisor.stdin is not None and supervisor.stdout is not None
        try:
            said = supervisor.stdout.readline().split(maxsplit=1)
            assert len(said) == 2, "PostgreSQL did not start"
            yield Cluster(int(said[0]), Path(said[1].strip()), supervisor.pid)
        finally:
            supervisor.stdin.close()
            supervisor.wait(timeout=STARTS_WITHIN_S)
            supervisor.stdout.close()


def supervise(programs: Path) -> None:
    """Run a server until standard input ends."""
    directory = Path(tempfile.mkdtemp(prefix="crisptree-pg-"))
    who = _somebody_else()
    as_them: dict[str, Any] = {"cwd": directory, "stdout": subprocess.DEVNULL}
    if who:
        os.chown(directory, who.pw_uid, who.pw_gid)
        as_them |= {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []}
    data, port = directory / "data", _free_port()
    options = ["-D", data, "-h", "127.0.0.1", "-p", str(port), "-k", directory]
    server = None
    try:
        initdb = [programs / "initdb", "-D", data, "-U", "study", "-A", "trust", "--no-sync"]
        subprocess.run(initdb, check=True, **as_them)
        is_told = False
        while not _is_over():
            if server is None or server.poll() is not None:
                server = subprocess.Popen(
                    [programs / "postgres", *options], stderr=subprocess.DEVNULL, **as_them
                )
            if not is_told and _answers(port):
                print(port, directory, flush=True)
                is_told = True
    finally:
        if server is not None:
            server.send_signal(signal.SIGQUIT)  # at once; nothing here is worth a checkpoint
            server.wait(timeout=STARTS_WITHIN_S)
        shutil.rmtree(directory, ignore_errors=True)


def _is_over() -> bool:
    """Whether the tests are gone; looks for a moment."""
    return bool(select.select([sys.stdin], [], [], 0.1)[0])


def _answers(port: int) -> bool:
    address = f"postgresql://study@127.0.0.1:{port}/postgres"
    with contextlib.suppress(psycopg.OperationalError), psycopg.connect(address):
        return True
    return False


def _somebody_else() -> pwd.struct_passwd | None:
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise RuntimeError("no user to run PostgreSQL as")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


if __name__ == "__main__":
    supervise(Path(sys.argv[1]))
