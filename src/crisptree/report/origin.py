"""Where a policy comes from: what its file and the directory of its run record, and all hashes."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from crisptree.base.errors import CrisptreeError
from crisptree.base.files import read_text
from crisptree.base.text import printable
from crisptree.report.review import Stage
from crisptree.show.headline import score_of

BESIDE = ("config.json", "summary.json")
"""Files of a run that are read and hashed where they lie beside the policy."""
LARGEST = 50_000_000
LABELS = {
    "command": "command",
    "config_hash": "hash of the configuration",
    "crisptree": "crisptree",
    "seed": "seed",
    "steps": "environment steps",
    "wall_seconds": "wall-clock seconds",
    "beginning": "began with",
    "selection_return": "return when it was chosen",
    "verdict": "its own verdict",
    "note": "note",
}
BASELINES = {"random_return": "random play", "constant_return": "the best constant action"}


class Origin:
    """The records of a training: those in the policy file, and those beside it."""

    def __init__(self, training: Mapping[str, Any], policy: Path | None) -> None:
        beside = {} if policy is None else {name: _json(policy.parent / name) for name in BESIDE}
        summary = beside.get("summary.json", {})
        # A summary beside the file is this policy's only if both record the same training.
        same = summary.get("config_hash") == training.get("config_hash") is not None
        self.is_run = same
        config = beside.get("config.json", {}) if same else {}
        self._known = {**config, **(summary if same else {}), **training}

    def rows(self) -> tuple[tuple[str, str], ...]:
        """The facts of the training, by label."""
        rows = [
            (label, _shown(self._known[name]))
            for name, label in LABELS.items()
            if _is_plain(self._known.get(name))
        ]
        claimed = score_of(self._known)
        if claimed:
            worst = self._known.get("crisp_return_min")
            claimed += f", worst {_shown(worst)}" if _is_number(worst) else ""
            rows.append(("its own score", claimed.removeprefix("return ")))
        return tuple(rows)

    def baselines(self) -> tuple[tuple[str, float], ...]:
        """What random and constant actions earn, by label."""
        return tuple(
            (label, float(self._known[name]))
            for name, label in BASELINES.items()
            if _is_number(self._known.get(name))
        )

    def stages(self) -> tuple[Stage, ...]:
        found = self._known.get("stages")
        rows = found if isinstance(found, list) else []
        return tuple(
            Stage(
                printable(str(row.get("stage", "")))[:60],
                _shown(row.get("leaves", "")),
                _shown(row.get("selection_return", "")),
                _shown(row.get("seconds", "")),
            )
            for row in rows
            if isinstance(row, Mapping)
        )


def hashed(paths: Iterable[Path]) -> tuple[tuple[str, int, str], ...]:
    """Name, size and SHA-256 of every file; each once."""
    found = {}
    for path in paths:
        try:
            with open(path, "rb") as file:
                if path.exists() and not path.is_file():
                    raise CrisptreeError(f"cannot read {path}: it is not an ordinary file")
                digest, size = hashlib.file_digest(file, "sha256"), file.tell()
        except OSError as error:
            raise CrisptreeError(f"cannot read {path}: {error.strerror or error}") from None
        found[path.resolve()] = (path.name, size, digest.hexdigest())
    return tuple(found.values())


def beside(policy: Path) -> list[Path]:
    """The files of the run that a policy belongs to."""
    return [policy.parent / name for name in BESIDE if (policy.parent / name).is_file()]


def _json(path: Path) -> dict[str, Any]:
    """The content of a JSON file of a run; {} if it is missing or damaged."""
    try:
        found = json.loads(read_text(path, LARGEST))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_plain(value: object) -> bool:
    return _is_number(value) or (isinstance(value, str) and 0 < len(value) <= 5_000)


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.0f}"
    return f"{value:,}" if _is_number(value) else printable(str("" if value is None else value))
