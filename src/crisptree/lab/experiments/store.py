"""The results store: records, agents and claims under any path that fsspec can open.

    records/ENV/RUN.json    one record a run, written whole or not at all
    agents/ENV/RUN#S.npz    learned soft agents, for the imitators to watch
    failed/ENV/RUN.txt      why a run failed; it is tried again next time
    claims/ENV/RUN.N        who works on a run (see claims.py)

A run is done when its record is there, and a record is never written twice.
"""

import posixpath
from collections.abc import Iterator

import fsspec
from fsspec.implementations.local import LocalFileSystem

from crisptree.base.errors import CrisptreeError
from crisptree.base.files import write_atomically
from crisptree.lab.experiments.cell import Cell
from crisptree.lab.experiments.record import Record


class Store:
    def __init__(self, url: str) -> None:
        """Open the store at a folder or a URL such as s3://bucket/folder."""
        try:
            self.files, self.root = fsspec.core.url_to_fs(url)
            self.files.makedirs(self.root, exist_ok=True)
        except (OSError, ValueError, ImportError) as error:
            raise CrisptreeError(f"cannot open the results store {url}: {error}") from error
        self.url = url
        self._read: dict[str, Record] = {}

    @property
    def is_local(self) -> bool:
        return isinstance(self.files, LocalFileSystem)

    def path(self, *parts: str) -> str:
        return posixpath.join(self.root, *parts)

    # Files: whole or not at all on a disk; object stores are so by themselves.

    def write(self, path: str, content: bytes) -> None:
        try:
            self.files.makedirs(posixpath.dirname(path), exist_ok=True)
            if self.is_local:
                write_atomically(path, content)
            else:
                self.files.pipe_file(path, content)
        except OSError as error:
            raise CrisptreeError(f"cannot write {path}: {error}") from error

    def create(self, path: str, content: bytes) -> bool:
        """Write a file that is not there yet; False where somebody else was faster."""
        self.files.makedirs(posixpath.dirname(path), exist_ok=True)
        try:
            if self.is_local:
                with open(path, "xb") as file:
                    file.write(content)
            else:
                self.files.pipe_file(path, content, mode="create")
        except FileExistsError:
            return False
        return True

    def read(self, path: str) -> bytes | None:
        try:
            return self.files.cat_file(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise CrisptreeError(f"cannot read {path}: {error}") from error

    def listed(self, folder: str) -> list[str]:
        """All files below a folder, sorted."""
        self.files.invalidate_cache()
        return sorted(map(str, self.files.find(self.path(folder))))

    def remove(self, path: str) -> None:
        if self.files.exists(path):
            self.files.rm_file(path)

    # Records.

    def put(self, record: Record, agents: dict[int, bytes]) -> None:
        """The agents first: with its record a run is done."""
        key = record.cell.key
        for seed, content in agents.items():
            self.write(self.path("agents", f"{key}#{seed}.npz"), content)
        self.write(self.path("records", f"{key}.json"), record.to_text().encode())
        self.remove(self.path("failed", f"{key}.txt"))

    def record(self, cell: Cell) -> Record | None:
        return self._record(self.path("records", f"{cell.key}.json"))

    def records(self) -> Iterator[Record]:
        """All records, in the order of their keys; damaged ones count as not there."""
        for path in self.listed("records"):
            if path.endswith(".json") and (record := self._record(path)) is not None:
                yield record

    def _record(self, path: str) -> Record | None:
        if path not in self._read:
            content = self.read(path)
            if content is None:
                return None
            try:
                self._read[path] = Record.from_text(content.decode())
            except (CrisptreeError, UnicodeDecodeError):
                return None
        return self._read[path]

    def agent(self, teacher: str) -> bytes:
        """The arrays of a learner, by `KEY#SEED`."""
        content = self.read(self.path("agents", f"{teacher}.npz"))
        if content is None:
            raise CrisptreeError(
                f"the store has the record of {teacher} but not its agent: delete the record, and "
                "it is trained again"
            )
        return content

    def note_failure(self, cell: Cell, why: str) -> None:
        self.write(self.path("failed", f"{cell.key}.txt"), why.encode())
