"""What one training of the zoo leaves behind, and where such records are kept."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from crisptree.base.errors import CrisptreeError
from crisptree.lab.experiments.record_store import RecordStore
from crisptree.pipeline.config_io import from_dict
from crisptree.pipeline.run_directory import plain

FORMAT = "crisptree.zoo"


@dataclass(frozen=True)
class Figure:
    """What a policy earns in the unseen episodes of its seed."""

    mean: float
    error: float | None = None
    """The standard error over episodes."""
    worst: float | None = None
    kind: str = ""
    """Which network, which constant action."""
    leaves: int | None = None
    exact: float | None = None
    """The mean return by the environment's own model, where it carries one."""


@dataclass(frozen=True)
class ZooRecord:
    key: str
    entry: dict[str, Any]
    seed: int
    budget: float | None
    """Minutes that were asked for; None for the procedure's own."""
    command: str
    config_hash: str
    verdict: str
    figures: dict[str, Figure]
    """random, constant, network, cart (from `teacher`) and crisptree."""
    teacher: str
    """The teacher of CART: exact, mlp or dqn."""
    optimum: float | None
    seconds: dict[str, float]
    """Wall time of the training, of the comparisons."""
    versions: dict[str, str]
    policy: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.entry["name"]

    def to_text(self) -> str:
        content = {"format": FORMAT, "version": 1, **asdict(self)}
        return json.dumps(plain(content), allow_nan=False, indent=1) + "\n"

    @staticmethod
    def from_text(text: str) -> "ZooRecord":
        try:
            content = plain(json.loads(text))  # NaN and infinities are no figures
        except (ValueError, RecursionError) as error:
            raise CrisptreeError(f"it is not JSON: {error}") from error
        if not isinstance(content, dict) or content.pop("format", None) != FORMAT:
            raise CrisptreeError("it is no record of the zoo")
        if content.pop("version", None) != 1:
            raise CrisptreeError("it is of another version")
        record = from_dict(ZooRecord, content, "record")
        named = {"figures": ("crisptree", "cart", "network"), "seconds": ("training",)}
        for field_, names in named.items():
            for name in names:
                if name not in getattr(record, field_):
                    raise CrisptreeError(f"record.{field_} has no '{name}'")
        if not isinstance(record.entry.get("name"), str):
            raise CrisptreeError("record.entry has no 'name'")
        return record


class ZooStore:
    """Records in a results store: one file for each training, never written twice."""

    def __init__(self, url: str) -> None:
        self.files = RecordStore(url)

    def record(self, key: str) -> ZooRecord | None:
        return self.files.parsed(self._path(key), ZooRecord.from_text)

    def records(self) -> Iterator[ZooRecord]:
        """All records, in the order of their keys."""
        for path in self.files.listed("zoo"):
            if path.endswith(".json"):
                record = self.files.parsed(path, ZooRecord.from_text)
                assert record is not None
                yield record

    def put(self, record: ZooRecord) -> None:
        self.files.write(self._path(record.key), record.to_text().encode())

    def _path(self, key: str) -> str:
        return self.files.path("zoo", f"{key}.json")
