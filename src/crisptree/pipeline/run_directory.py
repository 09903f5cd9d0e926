"""The run directory: what a training leaves behind, and finds again when it is resumed.

config.json     the configuration, resolved, with its hash
metrics.jsonl   one object for each update: stage, step, return, steps_per_second, …
stages/         one folder for each stage: its checkpoint while it runs, its result when it is done
candidates/     the same for each candidate, where there are several
policy.json, policy.svg, summary.json
"""

import fcntl
import json
import math
import os
import socket
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from crisptree.base.errors import CrisptreeError
from crisptree.base.files import read_text, write_atomically
from crisptree.pipeline.config_io import digest

CHECK = "digest"
"""The field of a checked file that names the others' content."""


class RunDirectory:
    def __init__(self, path: Path) -> None:
        self.path = path

    @staticmethod
    def create(path: Path) -> "RunDirectory":
        """A fresh directory; an existing one with anything in it is refused."""
        try:
            if path.exists() and (not path.is_dir() or any(path.iterdir())):
                is_run = (path / "config.json").exists()
                hint = ", or --resume to continue the run in it" if is_run else ""
                raise CrisptreeError(f"{path} exists already: give another --out{hint}")
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CrisptreeError(f"cannot write to {path}: {error.strerror or error}") from error
        return RunDirectory(path)

    @staticmethod
    def existing(path: Path) -> "RunDirectory":
        """An earlier run."""
        if not (path / "config.json").exists():
            raise CrisptreeError(f"nothing to resume in {path}: it has no config.json")
        return RunDirectory(path)

    @contextmanager
    def locked(self, patience: float = 5.0) -> Iterator[None]:
        """Lock the directory for one process; the lock ends with its owner, however that ends.

        An owner that is about to end is waited for, at most `patience` seconds.
        """
        name = self.path / ".lock"
        try:
            # Unbuffered, so that closing has nothing left to write where the disk is full.
            file = open(name, "a+b", buffering=0)  # noqa: SIM115 (closed below)
        except OSError as error:
            raise CrisptreeError(f"cannot write {name}: {error.strerror or error}") from error
        with file:
            end = time.monotonic() + patience
            while not _taken(file):
                if time.monotonic() > end:
                    file.seek(0)
                    owner = file.read(100).decode(errors="replace").strip() or "another process"
                    raise CrisptreeError(f"{self.path} is being written by {owner}")
                time.sleep(0.05)
            try:
                file.truncate(0)
                file.write(f"process {os.getpid()} on {socket.gethostname()}".encode())
            except OSError as error:
                name.unlink(missing_ok=True)
                raise CrisptreeError(f"cannot write {name}: {error.strerror or error}") from error
            yield

    def folder(self, name: str) -> Path:
        """A folder within, made where it is missing."""
        folder = self.path / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CrisptreeError(f"cannot write to {folder}: {error.strerror or error}") from error
        return folder

    def write_json(self, name: str, content: Any) -> None:
        text = json.dumps(plain(content), indent=2, allow_nan=False)
        write_atomically(self.path / name, text + "\n")

    def read_json(self, name: str) -> dict[str, Any] | None:
        """The object in a file; None where there is no file."""
        path = self.path / name
        try:
            content = json.loads(read_text(path))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            raise CrisptreeError(f"cannot read {path}: {error}") from error
        if not isinstance(content, dict):
            raise CrisptreeError(f"{path} is damaged: it must hold an object")
        return content

    def write_checked(self, name: str, content: Mapping[str, Any]) -> None:
        """Like `write_json`, with a digest by which damage is noticed."""
        whole = plain(content)
        self.write_json(name, {**whole, CHECK: digest(whole)})

    def read_checked(self, name: str) -> dict[str, Any] | None:
        """What `write_checked` wrote; None where there is no file."""
        content = self.read_json(name)
        if content is not None and content.pop(CHECK, None) != _digest(content):
            raise CrisptreeError(
                f"{self.path / name} is damaged: the run cannot go on; start it anew in another "
                "--out"
            )
        return content

    def append_metrics(self, lines: Iterable[Mapping[str, Any]]) -> int:
        """Add lines to metrics.jsonl; the length of the file afterwards."""
        path = self.path / "metrics.jsonl"
        try:
            with open(path, "a") as file:
                for line in lines:
                    file.write(json.dumps(plain(line), allow_nan=False) + "\n")
                return file.tell()
        except OSError as error:
            raise CrisptreeError(f"cannot write {path}: {error.strerror or error}") from error

    def lines_of(self, stage: str) -> list[dict[str, Any]]:
        """The lines of metrics.jsonl that a stage wrote."""
        lines = read_metrics(self.path / "metrics.jsonl")
        return [line for line in lines if line.get("stage") == stage]

    def cut_metrics(self, length: int) -> None:
        """Remove lines written after a checkpoint, so that a resumed run logs nothing twice."""
        path = self.path / "metrics.jsonl"
        if path.exists():
            with open(path, "r+") as file:
                file.truncate(length)


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The lines of a metrics.jsonl; none where there is no file."""
    try:
        lines = [json.loads(line) for line in read_text(path).splitlines()]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, RecursionError) as error:
        raise CrisptreeError(f"cannot read {path}: {error}") from error
    if not all(isinstance(line, dict) for line in lines):
        raise CrisptreeError(f"{path} is damaged: each line must hold an object")
    return lines


def _digest(content: dict[str, Any]) -> str | None:
    """The digest of an object; None if it holds NaN or infinities, which JSON does not have."""
    try:
        return digest(content)
    except ValueError:
        return None


def _taken(file: IO[bytes]) -> bool:
    """Whether this process has the lock now."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def plain(content: Any) -> Any:
    """JSON's own types; NaN and infinities, which JSON does not have, become null."""
    if isinstance(content, Mapping):
        return {str(key): plain(value) for key, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [plain(value) for value in content]
    if isinstance(content, float):
        return content if math.isfinite(content) else None
    if hasattr(content, "tolist"):
        return plain(content.tolist())
    return str(content) if isinstance(content, Path) else content
