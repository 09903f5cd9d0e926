"""The run directory: what a training leaves behind, and finds again when it is resumed.

config.json     what was asked for
metrics.jsonl   one object an update: stage, step, return, steps_per_second, …
stages/         one folder a stage: its checkpoint while it runs, its result when it is done
soft/           the last soft agent
front/          the best tree of every size on the way down
policy.json, policy.svg, summary.json
"""

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from crisptree.base.errors import CrisptreeError
from crisptree.base.files import write_atomically


class RunDirectory:
    def __init__(self, path: Path) -> None:
        self.path = path

    @staticmethod
    def create(path: Path, config: Mapping[str, Any]) -> "RunDirectory":
        """A fresh directory; an existing one with anything in it is refused."""
        try:
            if path.exists() and (not path.is_dir() or any(path.iterdir())):
                hint = "--resume continues it" if (path / "config.json").exists() else "it is used"
                raise CrisptreeError(
                    f"{path} exists already: {hint}, another --out leaves it alone"
                )
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CrisptreeError(f"cannot write to {path}: {error.strerror or error}") from error
        directory = RunDirectory(path)
        directory.write_json("config.json", config)
        return directory

    @staticmethod
    def resume(path: Path) -> tuple["RunDirectory", dict[str, Any]]:
        """An earlier run and its configuration."""
        directory = RunDirectory(path)
        config = directory.read_json("config.json")
        if config is None:
            raise CrisptreeError(f"nothing to resume in {path}: it has no config.json")
        if not isinstance(config, dict) or not isinstance(config.get("settings"), dict):
            raise CrisptreeError(f"nothing to resume in {path}: its config.json is not of a run")
        return directory, config

    def folder(self, name: str) -> Path:
        folder = self.path / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CrisptreeError(f"cannot write to {folder}: {error.strerror or error}") from error
        return folder

    def write_json(self, name: str, content: Any) -> None:
        text = json.dumps(plain(content), indent=2, allow_nan=False)
        write_atomically(self.path / name, text + "\n")

    def read_json(self, name: str) -> Any | None:
        path = self.path / name
        try:
            return json.loads(path.read_text())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise CrisptreeError(f"cannot read {path}: {error}") from error

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

    def cut_metrics(self, length: int) -> None:
        """Forget lines written after a checkpoint, so that a resumed run says nothing twice."""
        path = self.path / "metrics.jsonl"
        if path.exists():
            with open(path, "r+") as file:
                file.truncate(length)


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
