"""One search for an observation: z3 proposes, the tree itself decides."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from crisptree.crisp import CrispTree
from crisptree.verify.conditions import Condition
from crisptree.verify.floats import readable
from crisptree.verify.space import Space, Undecided

TRIES = 200


@dataclass(frozen=True)
class Search:
    """Over which floats to search, and how long."""

    n_features: int
    dtype: Any = np.float64
    deadline: float = math.inf
    """On the clock of `time.monotonic`."""

    def find(
        self, require: Callable[[Space], Sequence[Any]], shows: Callable[[list[float]], bool]
    ) -> list[float] | None:
        """Numbers that meet what `require` says of a space, in its axes' order, and that `shows`
        confirms; None if there are none."""
        space = Space(self.n_features, self.dtype, self.deadline)
        for formula in require(space):
            space.require(formula)
        solution = space.solution()
        if solution is None:
            return None
        found = self._confirmed([solution[axis] for axis in sorted(solution)], shows)
        return readable(found, shows, self.dtype, self.deadline)

    def _confirmed(self, found: list[float], shows: Callable[[list[float]], bool]) -> list[float]:
        """What was found, or floats beside it: conditions that join several features may not
        survive rounding."""
        rng = np.random.default_rng(0)
        at = np.array(found, self.dtype)
        for _ in range(TRIES):
            if shows(found):
                return found
            if time.monotonic() > self.deadline:
                raise Undecided("the time is over")
            towards = rng.choice(np.array([-np.inf, np.inf], self.dtype), at.shape)
            found = np.where(rng.random(at.shape) < 0.5, at, np.nextafter(at, towards)).tolist()
        raise Undecided(
            "there are real numbers that show the opposite, but no floats beside them that do"
        )


def takes(tree: CrispTree, observation: Sequence[float]) -> tuple[int | float, ...]:
    """The numbers of the tree's action, with no formula in between."""
    found = tree.act(np.array([observation], dtype=np.float64))[0]
    return tuple(np.atleast_1d(found).tolist())


def meets(condition: Condition, observation: Sequence[float]) -> bool:
    return condition.holds([Fraction(value) for value in observation])
