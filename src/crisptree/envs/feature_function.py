"""A user's own features between the observation and the tree."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.crisp.signature import Feature
from crisptree.envs.guard import numbers, reason

FeatureFunction = Callable[[Any], Any]
"""From one observation to a dict of named numbers, or to an array."""


class FunctionEncoder:
    """Turns raw observations into features by a user's function.

    The function takes one observation (one agent's, of a team) and returns a dict of named
    numbers, always with the same names, or an array; then its `feature_names` name the numbers.
    """

    def __init__(
        self, function: Any, env_name: str, example: Any, n_agents: int | None = None
    ) -> None:
        self.function, self.env_name, self.n_agents = function, env_name, n_agents
        self.label = f"features function '{getattr(function, '__qualname__', function)}'"
        found = self._call(example[0] if n_agents is not None else example)
        self.features = self._described(found)

    def _described(self, found: Any) -> tuple[Feature, ...]:
        if isinstance(found, Mapping):
            if not found:
                raise CrisptreeError(f"the {self.label} returned no features")
            return tuple(
                Feature(str(name), "flag", 0.0, 1.0)
                if isinstance(number, bool | np.bool_)
                else Feature(str(name))
                for name, number in found.items()
            )
        array = numbers(found, np.float32)
        if array is None:
            raise CrisptreeError(
                f"the {self.label} returned {type(found).__name__}; a dict of named numbers or an "
                "array of numbers would be right"
            )
        n = array.size
        names = tuple(map(str, getattr(self.function, "feature_names", None) or ()))
        names = names or tuple(f"x{at}" for at in range(n))
        if len(names) != n or len(set(names)) != n or n == 0:
            raise CrisptreeError(
                f"the {self.label} returned {n} numbers and has {len(names)} feature_names; it "
                "needs one name for each number, no two alike"
            )
        return tuple(Feature(name) for name in names)

    def __call__(self, raws: Sequence[Any] | np.ndarray) -> np.ndarray:
        """Rows `(n, F)` of n raw observations, float32; a team's agents are rows of their own."""
        if self.n_agents is not None:
            raws = [row for raw in raws for row in raw]
        rows = np.empty((len(raws), len(self.features)), np.float32)
        for row, raw in zip(rows, raws, strict=True):
            row[:] = self._row(raw)
        if not np.isfinite(rows).all():
            name = self.features[int(np.argwhere(~np.isfinite(rows))[0][1])].name
            raise CrisptreeError(
                f"the {self.label} returned no finite number for '{name}' on '{self.env_name}'"
            )
        return rows

    def _row(self, raw: Any) -> Any:
        found = self._call(raw)
        if isinstance(found, Mapping):
            named = {str(name): number for name, number in found.items()}
            found = [named.get(feature.name, "missing") for feature in self.features]
        array = numbers(found, np.float32)
        if array is None or array.size != len(self.features):
            raise CrisptreeError(
                f"the {self.label} must return the same {len(self.features)} numbers each time: "
                f"{', '.join(feature.name for feature in self.features)[:120]}"
            )
        return array.reshape(len(self.features))

    def _call(self, raw: Any) -> Any:
        try:
            return self.function(raw)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise CrisptreeError(
                f"the {self.label} failed on an observation of '{self.env_name}': {reason(error)}"
            ) from error
