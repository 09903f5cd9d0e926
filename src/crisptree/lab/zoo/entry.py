"""What the zoo holds: the list of environments in `entries.json`."""

import importlib.util
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from crisptree.base.errors import CrisptreeError
from crisptree.base.extras import EXTRA_OF
from crisptree.base.files import read_text
from crisptree.base.text import printable
from crisptree.envs.task import Task, task_of
from crisptree.lab.experiments.domain import slug
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.config_io import (
    asked_config,
    config_hash,
    digest,
    from_dict,
    with_overrides,
)
from crisptree.pipeline.run_directory import plain

ENTRIES = Path(__file__).parent / "entries.json"


@dataclass(frozen=True)
class Reference:
    """A figure of somebody else's, to compare with."""

    value: float
    source: str


@dataclass(frozen=True)
class Entry:
    """One environment, the leaf limit, and how many unseen episodes count."""

    name: str
    suite: str
    env: str
    leaves: int
    kwargs: dict[str, Any] = field(default_factory=dict)
    features: str | None = None
    episodes: int = 200
    reference: Reference | None = None

    @property
    def slug(self) -> str:
        return slug(self.name)

    def task(self) -> Task:
        """The task; an error of one line if a package is missing."""
        module = (_module(self.env) or "").partition(".")[0]
        if module and importlib.util.find_spec(module) is None:
            extra = EXTRA_OF.get(module)
            wanted = f"'crisptree[{extra}]'" if extra else module
            raise CrisptreeError(f"needs the package {module}: pip install {wanted}")
        return task_of(self.env, self.kwargs or None, self.features)

    def config(self, seed: int, budget: float | None) -> TrainConfig:
        """The defaults, and the leaf limit."""
        asked = asked_config(
            TrainConfig(), leaves=self.leaves, seed=seed, budget=budget, episodes=self.episodes
        )
        named = {"env.id": self.env, "env.kwargs": self.kwargs, "env.features": self.features}
        return with_overrides(asked, named)

    def key(self, config: TrainConfig) -> str:
        """The name of a record: readable, and unique by the hash of the configuration."""
        return f"{self.slug}/seed-{config.seed}-{digest([config_hash(config), self.slug])}"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def load_entries(path: Path = ENTRIES) -> tuple[Entry, ...]:
    """All entries of a file, whose names are unique."""
    try:
        rows = plain(json.loads(read_text(path)))
    except (OSError, ValueError, RecursionError) as error:
        raise CrisptreeError(f"{path} is no list of entries: {error}") from error
    if not isinstance(rows, list):
        raise CrisptreeError(f"{path} is no list of entries")
    entries = tuple(from_dict(Entry, row, f"{path}[{at}]") for at, row in enumerate(rows))
    if len({entry.slug for entry in entries}) < len(entries):
        raise CrisptreeError(f"{path} has two entries of the same name")
    return entries


def check_named(entries: tuple[Entry, ...], names: tuple[str, ...]) -> None:
    """Refuses entries of a user's file that name a module, unless `names` have it too, or
    the zoo's own entries: a file never gets code imported."""
    known = {_module(each) for entry in load_entries() for each in (entry.env, entry.features)}
    known |= {_module(name) for name in names}
    for entry in entries:
        for code in (entry.env, entry.features):
            if _module(code) not in known:
                shown = printable(str(code))
                raise CrisptreeError(
                    f"the entry '{printable(entry.name)}' names '{shown}', and a file never makes "
                    f"crisptree import a module: if you trust it, say --env {shown}"
                )


def _module(name: str | None) -> str | None:
    """The module that a name would get imported."""
    return None if name is None or ":" not in name else name.rpartition(":")[0]


def chosen(entries: tuple[Entry, ...], names: tuple[str, ...]) -> tuple[Entry, ...]:
    """The entries whose name, id or suite is asked for; all where nothing is."""
    if not names:
        return entries
    for name in names:
        if not any(_is_meant(entry, name) for entry in entries):
            raise CrisptreeError(f"the zoo has no '{name}'; crisptree zoo --list shows what it has")
    return tuple(entry for entry in entries if any(_is_meant(entry, name) for name in names))


def _is_meant(entry: Entry, name: str) -> bool:
    said = {entry.name, entry.env, entry.suite, entry.slug, entry.env.rpartition(":")[2]}
    return name.lower() in {each.lower() for each in said}
