"""What a run leaves behind: one JSON object with its configuration and figures, seed by seed."""

import json
import platform
from collections.abc import Callable
from dataclasses import dataclass, fields
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.lab.experiments.cell import Cell
from crisptree.lab.experiments.first_edition import cell_of_first_edition
from crisptree.pipeline.run_directory import plain

FORMAT = "crisptree.record"
PACKAGES = ("crisptree", "jax", "equinox", "optax", "numpy", "gymnasium", "scikit-learn", "envpool")

Curve = tuple[tuple[float, float], ...]
"""(environment steps, mean return of the episodes that ended), in order."""


@dataclass(frozen=True)
class SeedResult:
    """One seed of a run. Returns are of reporting episodes, one number for each episode."""

    seed: int
    soft_returns: tuple[float, ...] | None = None
    """Of the greedy policy that is not a crisp tree: soft tree, MLP, script."""
    soft_selection: float | None = None
    """Mean over selection episodes, by which runs are chosen."""
    crisp_returns: tuple[float, ...] | None = None
    crisp_selection: float | None = None
    policy: CrispTree | None = None
    """The crisp policy without redundant nodes."""
    full_policy: CrispTree | None = None
    """The same before the cuts that cost nothing."""
    curve: Curve = ()
    """Return in training, thinned."""
    steps: int | None = None
    seconds: float | None = None

    @property
    def tree(self) -> CrispTree:
        assert self.policy is not None
        return self.policy

    @property
    def full_tree(self) -> CrispTree:
        return self.tree if self.full_policy is None else self.full_policy

    def to_dict(self) -> dict[str, Any]:
        """The fields that have a value."""
        content = {each.name: getattr(self, each.name) for each in fields(self)}
        return {
            name: value.to_dict() if isinstance(value, CrispTree) else value
            for name, value in content.items()
            if value is not None and value != ()
        }

    @staticmethod
    def from_dict(content: dict[str, Any]) -> "SeedResult":
        readers: dict[str, Callable[[Any], Any]] = {
            "soft_returns": _numbers,
            "crisp_returns": _numbers,
            "policy": CrispTree.from_dict,
            "full_policy": CrispTree.from_dict,
            "curve": lambda points: tuple((float(step), float(y)) for step, y in points),
        }
        values = {name: readers.get(name, _same)(value) for name, value in content.items()}
        return SeedResult(**values)


def _numbers(values: Any) -> tuple[float, ...]:
    return tuple(map(float, values))


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class Record:
    key: str
    cell: Cell
    seeds: tuple[SeedResult, ...]
    config: dict[str, Any] | None
    """The resolved configuration and its hash; None where nothing is trained."""
    command: str | None
    """The `crisptree train` that does the same, where there is one."""
    versions: dict[str, str]

    @property
    def seconds(self) -> float:
        """Seconds of work, interruptions left out."""
        return round(sum(each.seconds or 0.0 for each in self.seeds), 2)

    def to_dict(self) -> dict[str, Any]:
        return plain(
            {
                "format": FORMAT,
                "version": 2,
                "key": self.key,
                "cell": self.cell.to_dict(),
                "config": self.config,
                "command": self.command,
                "seconds": self.seconds,
                "versions": self.versions,
                "seeds": [each.to_dict() for each in self.seeds],
            }
        )

    def to_text(self) -> str:
        return json.dumps(self.to_dict(), allow_nan=False) + "\n"

    @staticmethod
    def from_dict(content: dict[str, Any]) -> "Record":
        try:
            if content["format"] != FORMAT or content["version"] not in (1, 2):
                raise CrisptreeError(f"it is no {FORMAT} of version 1 or 2")
            is_first = content["version"] == 1
            return Record(
                content["key"],
                (cell_of_first_edition if is_first else Cell.from_dict)(content["cell"]),
                tuple(SeedResult.from_dict(each) for each in content["seeds"]),
                content.get("config"),
                content["command"],
                content["versions"],
            )
        except CrisptreeError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise CrisptreeError(f"it is not a record: {error!r}") from error

    @staticmethod
    def from_text(text: str) -> "Record":
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise CrisptreeError(f"it is not JSON: {error}") from error
        if not isinstance(content, dict):
            raise CrisptreeError("it must hold an object")
        return Record.from_dict(content)


def versions() -> dict[str, str]:
    """The versions of Python and of the packages that the figures depend on."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
