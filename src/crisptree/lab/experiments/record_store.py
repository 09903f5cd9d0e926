"""Where records are kept: a folder, or any URL that fsspec opens.

    records/ENV/RUN.json    one record for each run, written whole or not at all
    agents/ENV/RUN#S.eqx    learned soft agents, for the imitators
    failed/ENV/RUN.txt      why a run failed; it is tried again next time
    locks/ENV/RUN…          who works on a run (see cell_locks.py)
    work/                   runs that are not finished (folders only)

A run is done when its record is there, and a record is never written twice.
"""

import posixpath
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import gettempdir
from typing import TypeVar

import fsspec
from fsspec.implementations.local import LocalFileSystem

from crisptree.base.errors import CrisptreeError
from crisptree.base.files import write_atomically
from crisptree.base.text import printable
from crisptree.lab.experiments.cell import Cell
from crisptree.lab.experiments.domain import slug
from crisptree.lab.experiments.record import Record

Parsed = TypeVar("Parsed")


class RecordStore:
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

    @property
    def work_folder(self) -> Path:
        """Where unfinished runs work: in the store where it is a folder, else among the
        temporary files."""
        if self.is_local:
            return Path(self.root) / "work"
        return Path(gettempdir()) / f"crisptree-{slug(self.url)}"

    def write(self, path: str, content: bytes) -> None:
        """Write a file, whole or not at all; object stores do so by themselves."""
        try:
            self.files.makedirs(posixpath.dirname(path), exist_ok=True)
            if self.is_local:
                write_atomically(path, content)
            else:
                self.files.pipe_file(path, content)
        except OSError as error:
            raise CrisptreeError(f"cannot write {path}: {error}") from error

    def read(self, path: str) -> bytes | None:
        """The content of a file; None where there is no file."""
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

    def put(self, record: Record, agents: dict[int, bytes]) -> None:
        """Write a record after its agents: with its record a run is done."""
        for seed, content in agents.items():
            self.write(self.path("agents", f"{record.key}#{seed}.eqx"), content)
        self.write(self.path("records", f"{record.key}.json"), record.to_text().encode())
        self.remove(self.path("failed", f"{record.key}.txt"))

    def record(self, key: str) -> Record | None:
        return self._record(self.path("records", f"{key}.json"))

    def records(self) -> Iterator[Record]:
        """All records in the order of their keys; a damaged one is an error that names its file."""
        for path in self.listed("records"):
            if path.endswith(".json") and (record := self._record(path)) is not None:
                yield record

    def _record(self, path: str) -> Record | None:
        if path not in self._read:
            record = self.parsed(path, Record.from_text)
            if record is None:
                return None
            self._read[path] = record
        return self._read[path]

    def parsed(self, path: str, parse: Callable[[str], Parsed]) -> Parsed | None:
        """What `parse` makes of a file; None where there is none. A damaged one is named."""
        content = self.read(path)
        try:
            return None if content is None else parse(content.decode())
        except (CrisptreeError, UnicodeDecodeError) as error:
            raise CrisptreeError(
                f"{printable(path)} is damaged: {printable(str(error))[:200]}; delete it, and the "
                "run is done again"
            ) from error

    def agent(self, teacher: str) -> bytes:
        """The learner that `KEY#SEED` names."""
        content = self.read(self.path("agents", f"{teacher}.eqx"))
        if content is None:
            raise CrisptreeError(
                f"the store has the record of {teacher} but not its agent: delete the record, and "
                "it is trained again"
            )
        return content

    def note_failure(self, cell: Cell, why: str) -> None:
        self.write(self.path("failed", f"{cell.key}.txt"), why.encode())
