"""Who works on a run: no two processes that share a store run the same one.

A claim is a file that only one process can create: `claims/KEY.1`. Its owner renews it. A claim is
dead when its owner's process is gone (on the same machine) or when it was not renewed for long
(on another). Then the next process creates `KEY.2`, and so on: taking over is creating a file too,
so that only one of several takers succeeds.
"""

import contextlib
import json
import os
import socket
import threading
import time
from pathlib import Path

from crisptree.base.errors import CrisptreeError
from crisptree.lab.experiments.cell import Cell
from crisptree.lab.experiments.store import Store

RENEW = 20.0
"""Seconds between two renewals."""
DEAD_AFTER = 300.0
"""Seconds without renewal after which another machine's claim is dead."""
HALF_WRITTEN = 5.0
"""Seconds after which a claim that cannot be read will never be."""


class Claims:
    """The claims of this process; renewed by a thread of its own until `close`."""

    def __init__(self, store: Store) -> None:
        self._store, self._held = store, dict[str, str]()
        self._lock, self._over = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._renew, daemon=True)
        self._thread.start()

    def take(self, cell: Cell) -> bool:
        """Whether the run is ours now. Ask for its record after, not before."""
        taken = _generations(self._store, cell)
        if taken and _is_alive(self._store, taken[max(taken)]):
            return False
        path = self._store.path("claims", f"{cell.key}.{max(taken, default=0) + 1}")
        if not self._store.create(path, _claim()):
            return False
        with self._lock:
            self._held[cell.key] = path
        return True

    def take_dead(self, cell: Cell) -> bool:
        """Whether there was a claim whose owner is gone, which is ours now."""
        return bool(_generations(self._store, cell)) and self.take(cell)

    def release(self, cell: Cell) -> None:
        with self._lock:
            self._held.pop(cell.key)
        for path in _generations(self._store, cell).values():
            self._store.remove(path)

    def close(self) -> None:
        """Let go of everything."""
        self._over.set()
        self._thread.join()
        for path in self._held.values():
            self._store.remove(path)
        self._held.clear()

    def _renew(self) -> None:
        while not self._over.wait(RENEW):
            # A store that is away for a while is tried again the next time.
            with self._lock, contextlib.suppress(CrisptreeError):
                for path in self._held.values():
                    self._store.write(path, _claim())


def _generations(store: Store, cell: Cell) -> dict[int, str]:
    folder, name = os.path.split(store.path("claims", cell.key))
    store.files.invalidate_cache()
    if not store.files.exists(folder):
        return {}
    found = {}
    for path in store.files.ls(folder, detail=False):
        stem, _, number = os.path.basename(path).rpartition(".")
        if stem == name and number.isdigit():
            found[int(number)] = path
    return found


def _claim() -> bytes:
    owner = {"machine": machine(), "pid": os.getpid(), "began": began(os.getpid())}
    return json.dumps({**owner, "renewed": time.time()}).encode()


def _is_alive(store: Store, path: str) -> bool:
    content = store.read(path)
    if content is None:  # released just now
        return True
    try:
        claim = json.loads(content)
    except ValueError:  # half written: by somebody who is at it, or who was killed at it
        return time.time() - store.files.modified(path).timestamp() < HALF_WRITTEN
    if claim["machine"] == machine() and os.name == "posix":
        return began(claim["pid"]) == claim["began"]
    return time.time() - claim["renewed"] < DEAD_AFTER


def machine() -> str:
    """A name for everything that shares this process's numbers: host, boot and namespace."""
    parts = [socket.gethostname()]
    boot = Path("/proc/sys/kernel/random/boot_id")
    if boot.exists():
        parts.append(boot.read_text().strip())
    if os.path.exists("/proc/self/ns/pid"):
        parts.append(str(os.stat("/proc/self/ns/pid").st_ino))
    return " ".join(parts)


def began(pid: int) -> str | None:
    """When a process began, which tells it from a later one of its number; None: it is gone."""
    if os.path.exists("/proc/self/stat"):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return None
        return None if fields[0] == "Z" else fields[19]
    try:
        os.kill(pid, 0)
    except OSError:
        return None
    return "some time ago"
