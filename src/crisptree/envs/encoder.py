"""From raw observations to rows of features, and back."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.crisp.signature import Feature
from crisptree.envs.guard import misbehaved, numbers

Path = tuple[str | int, ...]
"""The keys that lead to a part of an observation."""


@dataclass(frozen=True)
class Part:
    """A basic space within the observation space: where it is, and the shape of its values."""

    path: Path
    shape: tuple[int, ...]
    dtype: str = "float32"

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))


@dataclass(frozen=True)
class SpaceEncoder:
    """Turns raw observations into rows of features."""

    env_name: str
    parts: tuple[Part, ...]
    features: tuple[Feature, ...]
    n_agents: int | None = None
    source: np.ndarray | None = field(default=None, compare=False)
    """For each feature, which raw number it comes from; None where they are the same."""
    equals: np.ndarray | None = field(default=None, compare=False)
    """For each feature, the value it is a flag for; NaN where the number is kept."""
    left_out: tuple[str, ...] = ()
    """Parts of the observation that are text, which no feature comes from."""

    def __call__(self, raws: Sequence[Any] | np.ndarray) -> np.ndarray:
        """Rows `(n, F)` of n raw observations, float32; a team's agents are rows of their own."""
        columns = [self._numbers(part, raws) for part in self.parts]
        values = columns[0] if len(columns) == 1 else np.concatenate(columns, axis=1)
        if not np.isfinite(values).all():
            raise self._not_finite(values)
        if self.source is None or self.equals is None:
            return values.reshape(-1, len(self.features))
        rows = values[:, self.source]
        return np.where(np.isnan(self.equals), rows, rows == self.equals).astype(np.float32)

    def only(self, names: Sequence[str]) -> "SpaceEncoder | None":
        """The encoder that gives just the features of these names; None where it lacks one."""
        known = [feature.name for feature in self.features]
        if self.source is None or self.equals is None or not set(names) <= set(known):
            return None
        at = [known.index(name) for name in names]
        features = tuple(self.features[i] for i in at)
        return replace(self, features=features, source=self.source[at], equals=self.equals[at])

    def raw(self, rows: np.ndarray) -> Any:
        """A batch of raw observations from rows of features: the way back, for models that were
        trained on the environment's own observations. A dict of arrays where the space is a Dict,
        one array where it has a single part."""
        values = self._values(rows)
        found: Any = {}
        at = 0
        for part in self.parts:
            array = values[:, at : at + part.size].reshape(len(rows), *part.shape)
            at += part.size
            if not part.path:
                return array.astype(part.dtype)
            inner = found
            for key in part.path[:-1]:
                inner = inner.setdefault(key, {})
            inner[part.path[-1]] = array.astype(part.dtype)
        return found

    def _values(self, rows: np.ndarray) -> np.ndarray:
        """The raw numbers behind the features."""
        if self.source is None or self.equals is None:
            return rows.reshape(len(rows), -1)
        values = np.zeros((len(rows), int(self.source.max()) + 1), np.float64)
        for value in range(values.shape[1]):
            columns = np.flatnonzero(self.source == value)
            if np.isnan(self.equals[columns[0]]):
                values[:, value] = rows[:, columns[0]]
            else:
                raised = rows[:, columns] > 0.5
                # The value without a flag is the one below the first flag's.
                none = self.equals[columns[0]] - 1
                values[:, value] = np.where(raised.any(1), raised @ self.equals[columns], none)
        return values

    def _numbers(self, part: Part, raws: Sequence[Any] | np.ndarray) -> np.ndarray:
        """The numbers of one part, `(n, size)`."""
        try:
            found = [_follow(raw, part.path) for raw in raws] if part.path else raws
        except Exception:  # objects of the environment's own may raise anything
            raise self._wrong(part, raws) from None
        array = numbers(found, np.float32)
        if array is None or array.shape != (len(raws), *part.shape):
            raise self._wrong(part, raws)
        return array.reshape(len(raws), part.size)

    def _wrong(self, part: Part, raws: Sequence[Any] | np.ndarray) -> CrisptreeError:
        """The error for the first observation that is not what the space says."""
        where = "".join(f"[{key!r}]" for key in part.path)
        for raw in raws:
            found = array = None
            with suppress(Exception):
                found = _follow(raw, part.path)
                array = numbers(found, np.float32)
            if array is None:
                return misbehaved(
                    self.env_name,
                    f"returned an observation{where} that is no array of numbers "
                    f"({type(raw).__name__}); its space says shape {part.shape}",
                )
            if found is None:
                return misbehaved(self.env_name, f"returned None as its observation{where}")
            if array.shape != part.shape:
                return misbehaved(
                    self.env_name,
                    f"returned an observation{where} of shape {array.shape}; its space says "
                    f"{part.shape}",
                )
        return misbehaved(self.env_name, f"returned observations{where} of unlike shapes")

    def _not_finite(self, values: np.ndarray) -> CrisptreeError:
        row, column = np.argwhere(~np.isfinite(values))[0]
        what = "NaN or None" if np.isnan(values[row, column]) else "inf or a number beyond float32"
        return misbehaved(self.env_name, f"returned {what} in an observation (number {column})")


def _follow(raw: Any, path: Path) -> Any:
    for key in path:
        raw = raw[key]
    return raw
