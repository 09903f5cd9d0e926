"""Real actions as choices among a few values. No JAX here.

Trees with constant leaves only ever take a few values, and choices are easier to learn: a tree that
is still soft tries one of its leaves' actions or the other, not what lies between them.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp.signature import Actions


@dataclass(frozen=True)
class Levels:
    """Evenly spaced values of each dimension of a real action, its bounds included."""

    actions: Actions
    """The real ones."""
    count: int

    @cached_property
    def table(self) -> NDArray[np.float64]:
        """The values: `(dimensions, count)`."""
        return np.linspace(self.actions.low, self.actions.high, self.count, axis=1)

    @property
    def choices(self) -> Actions:
        """One choice for each dimension."""
        named = tuple(tuple(f"{value:.4g}" for value in row) for row in self.table.tolist())
        return Actions.multi_discrete(self.actions.names, named)

    def values(self, chosen: NDArray) -> NDArray[np.float64]:
        """The real actions of choices `(n, dimensions)`."""
        return self.table[np.arange(len(self.table)), chosen]

    def nearest(self, values: NDArray) -> NDArray[np.int64]:
        """The choices that come nearest to real actions `(n, dimensions)`."""
        return np.abs(values[..., None] - self.table).argmin(-1)
