"""A private PostgreSQL in a temporary folder, on loopback, for as long as the tests run.

PostgreSQL refuses to run as root; then it runs as `postgres` or `nobody`.
"""

import contextlib
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg

STARTS_WITHIN_S = 60


def find_programs() -> Path | None:
    """The folder of initdb and postgres, the newest if there are several."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda at: at.parent.name)
    on_path = shutil.which("initdb")
    folders += [Path(on_path).parent] if on_path else []
    found = [at for at in folders if (at / "initdb").exists() and (at / "postgres").exists()]
    return found[-1] if found else None


@dataclass(frozen=True)
class Cluster:
    port: int

    def url(self, name: str) -> str:
        return f"postgresql://study@127.0.0.1:{self.port}/{name}"

    def new_database(self) -> str:
        """The URL of a fresh, empty database."""
        name = f"study_{secrets.token_hex(6)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")  # pyright: ignore
        return self.url(name)

    @staticmethod
    @contextlib.contextmanager
    def started(programs: Path) -> Iterator["Cluster"]:
        folder = Path(tempfile.mkdtemp(prefix="crisptree-pg-"))
        who = _somebody_else()
        if who:
            os.chown(folder, who.pw_uid, who.pw_gid)
        as_them = {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []} if who else {}
        data = folder / "data"
        port = _free_port()
        try:
            subprocess.run(
                [programs / "initdb", "-D", data, "-U", "study", "-A", "trust", "--no-sync"],
                check=True,
                capture_output=True,
                cwd=folder,
                **as_them,
            )
            options = ["-h", "127.0.0.1", "-p", str(port), "-k", folder]
            server = subprocess.Popen(
                [programs / "postgres", "-D", data, *options],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=folder,
                **as_them,
            )
            try:
                _wait_for(port, server)
                yield Cluster(port)
            finally:
                server.send_signal(signal.SIGQUIT)  # at once; nothing here is worth a checkpoint
                server.wait(timeout=STARTS_WITHIN_S)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


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


def _wait_for(port: int, server: subprocess.Popen) -> None:
    until = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < until:
        if server.poll() is not None:
            raise RuntimeError(f"PostgreSQL stopped with {server.returncode}")
        with contextlib.suppress(psycopg.OperationalError):
            psycopg.connect(f"postgresql://study@127.0.0.1:{port}/postgres").close()
            return
        time.sleep(0.1)
    raise RuntimeError("PostgreSQL did not start")
