"""What a run leaves behind: one JSON object with its figures, seed by seed."""

import json
import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.lab.experiments.cell import Cell
from crisptree.pipeline.directory import plain

FORMAT = "crisptree.record"
PACKAGES = ("crisptree", "jax", "equinox", "optax", "numpy", "gymnasium", "scikit-learn", "envpool")


@dataclass(frozen=True)
class SeedFigures:
    """One seed of a run. Returns are of reporting episodes, one number an episode."""

    seed: int
    soft_returns: tuple[float, ...] | None = None
    """Of the greedy agent that is not a crisp tree: soft tree, MLP, a script."""
    soft_selection: float | None = None
    """Mean over selection episodes: what choices between runs are made by."""
    crisp_returns: tuple[float, ...] | None = None
    crisp_selection: float | None = None
    policy: dict[str, Any] | None = None
    """The crisp policy, redundant nodes removed."""
    full_policy: dict[str, Any] | None = None
    """The same before whatever costs nothing was cut."""
    curve: tuple[tuple[float, float], ...] = ()
    """(environment steps, return in training), thinned."""
    steps: int | None = None
    seconds: float | None = None

    def tree(self) -> CrispTree:
        assert self.policy is not None
        return CrispTree.from_dict(self.policy)

    def full_tree(self) -> CrispTree:
        return self.tree() if self.full_policy is None else CrispTree.from_dict(self.full_policy)


@dataclass(frozen=True)
class Record:
    cell: Cell
    seeds: tuple[SeedFigures, ...]
    command: str | None
    """The `crisptree train` that does the same, where there is one."""
    versions: dict[str, str]

    @property
    def seconds(self) -> float:
        """Of work, interruptions left out."""
        return round(sum(each.seconds or 0.0 for each in self.seeds), 2)

    def to_text(self) -> str:
        content = {
            "format": FORMAT,
            "version": 1,
            "key": self.cell.key,
            "cell": self.cell.to_dict(),
            "command": self.command,
            "seconds": self.seconds,
            "versions": self.versions,
            "seeds": [
                {name: value for name, value in vars(each).items() if value not in (None, ())}
                for each in self.seeds
            ],
        }
        return json.dumps(plain(content), allow_nan=False) + "\n"

    @staticmethod
    def from_text(text: str) -> "Record":
        try:
            content = json.loads(text)
            if content["format"] != FORMAT or content["version"] != 1:
                raise CrisptreeError(f"not a {FORMAT} of version 1")
            return Record(
                cell=Cell.from_dict(content["cell"]),
                seeds=tuple(_seed_figures(each) for each in content["seeds"]),
                command=content["command"],
                versions=content["versions"],
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise CrisptreeError(f"not a record: {error}") from error


def _seed_figures(content: dict[str, Any]) -> SeedFigures:
    returns = {
        name: tuple(map(float, content[name]))
        for name in ("soft_returns", "crisp_returns")
        if name in content
    }
    curve = tuple((float(step), float(value)) for step, value in content.get("curve", ()))
    return SeedFigures(**{**content, **returns, "curve": curve})


def mean(returns: tuple[float, ...] | None) -> float | None:
    return None if returns is None else float(np.mean(returns))


def versions() -> dict[str, str]:
    """Python's and the packages' that the figures hang on."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
