"""No two processes that share a store work on the same run.

In a folder, a lock is the operating system's: it goes with its owner, however that one ends. In an
object store, a lock is a file that only one process can create. Its owner renews it; when it was
not renewed for `EXPIRES` seconds, the next process creates the next file, and only one succeeds.
"""

import contextlib
import fcntl
import json
import os
import posixpath
import threading
import time
from pathlib import Path
from typing import IO

from crisptree.base.errors import CrisptreeError
from crisptree.lab.experiments.record_store import RecordStore

EXPIRES = 300.0
RENEW = 60.0


class FileLocks:
    """Locks of the operating system."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._held = folder, dict[str, IO[str]]()

    def acquire(self, key: str) -> bool:
        """Whether the run is ours now. Ask for its record after this, not before."""
        path = self._folder / f"{key}.lock"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = open(path, "a")  # noqa: SIM115 (held until it is released)
        except OSError as error:
            raise CrisptreeError(f"cannot write {path}: {error.strerror}") from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Its last owner may have removed the file between our opening and our locking it.
            is_there = os.fstat(file.fileno()).st_ino == os.stat(path).st_ino
        except OSError:
            is_there = False
        if not is_there:
            file.close()
            return False
        self._held[key] = file
        return True

    def release(self, key: str) -> None:
        file = self._held.pop(key)
        os.unlink(file.name)
        file.close()

    def close(self) -> None:
        """Release all that are held."""
        for key in list(self._held):
            self.release(key)


class LeaseLocks:
    """Locks that expire; a thread renews them until `close`."""

    def __init__(self, store: RecordStore, renew: float = RENEW) -> None:
        self._store, self._held, self._renew_every = store, dict[str, str](), renew
        self._mutex, self._over = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._renew, daemon=True)
        self._thread.start()

    def acquire(self, key: str) -> bool:
        taken = self._generations(key)
        if taken and not self._is_expired(taken[max(taken)]):
            return False
        path = self._store.path("locks", f"{key}.{max(taken, default=0) + 1}")
        self._store.files.makedirs(posixpath.dirname(path), exist_ok=True)
        try:
            self._store.files.pipe_file(path, _lease(), mode="create")
        except FileExistsError:
            return False
        with self._mutex:
            self._held[key] = path
        return True

    def release(self, key: str) -> None:
        with self._mutex:
            self._held.pop(key)
        for path in self._generations(key).values():
            self._store.remove(path)

    def close(self) -> None:
        self._over.set()
        self._thread.join()
        for key in list(self._held):
            self.release(key)

    def _renew(self) -> None:
        while not self._over.wait(self._renew_every):
            # A store that cannot be reached for a while is tried again the next time.
            with self._mutex, contextlib.suppress(CrisptreeError):
                for path in self._held.values():
                    self._store.write(path, _lease())

    def _generations(self, key: str) -> dict[int, str]:
        folder, name = posixpath.split(self._store.path("locks", key))
        files = self._store.files
        files.invalidate_cache()
        paths = files.ls(folder, detail=False) if files.exists(folder) else []
        split = [(path, *posixpath.basename(path).rpartition(".")[::2]) for path in paths]
        return {int(n): path for path, stem, n in split if stem == name and n.isdigit()}

    def _is_expired(self, path: str) -> bool:
        content = self._store.read(path)
        if content is None:  # released just now: ask again later
            return False
        try:
            return time.time() - json.loads(content)["renewed"] > EXPIRES
        except (ValueError, KeyError, TypeError):
            return True


def _lease() -> bytes:
    return json.dumps({"renewed": time.time()}).encode()


CellLocks = FileLocks | LeaseLocks
"""The locks of one process: `acquire`, `release`, `close`."""


def locks_of(store: RecordStore) -> CellLocks:
    return FileLocks(Path(store.root) / "locks") if store.is_local else LeaseLocks(store)
