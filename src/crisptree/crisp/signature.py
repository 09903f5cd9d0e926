"""What goes into a policy and what comes out of it: its features and its actions."""

from dataclasses import dataclass
from typing import Literal

FeatureKind = Literal["number", "flag", "category"]
ActionKind = Literal["discrete", "multi_discrete", "box"]
Terms = tuple[tuple[int, float], ...]
"""`(feature, weight)` of each part of a weighted sum."""


@dataclass(frozen=True)
class Feature:
    """One number of an observation, or one that follows from them, as a reader knows it."""

    name: str
    kind: FeatureKind = "number"
    """A flag is 0 or 1 and is read as no or yes; a category is a whole number with few meanings."""
    low: float | None = None
    """The least value the environment gives, where it says so."""
    high: float | None = None
    categories: tuple[str, ...] = ()
    """Of a category: what its values low, low + 1, … mean, where that is known."""
    terms: Terms = ()
    """Of a derived feature: `(feature, weight)` of the numbers that it sums. Such features stand
    behind all that an observation has; `crisptree.crisp.derived` computes them."""


@dataclass(frozen=True)
class Actions:
    """What a policy may do.

    discrete: one of n, a leaf holds its number. multi_discrete: one choice for each part, a leaf
    holds a row of numbers. box: a real vector within bounds, a leaf holds a row of floats.
    Policies and learners count choices from 0; `start` is where the environment begins to count.
    """

    kind: ActionKind
    names: tuple[str, ...]
    """discrete: a name for each action; multi_discrete: for each part; box: for each dimension."""
    choices: tuple[tuple[str, ...], ...] = ()
    """multi_discrete: the names of each part's choices."""
    low: tuple[float, ...] = ()
    """box: the least value of each dimension."""
    high: tuple[float, ...] = ()
    start: tuple[int, ...] = ()
    """What the environment adds to a choice counted from 0 (one for discrete, one a part)."""
    dtype: str = "int64"
    """NumPy's name for the type the environment expects."""
    shape: tuple[int, ...] = ()
    """box: the shape of the environment's action, where it is not flat."""

    @property
    def n_values(self) -> int:
        """Numbers in one action: 1, the parts, or the dimensions."""
        return 1 if self.kind == "discrete" else len(self.names)

    @property
    def n_outputs(self) -> int:
        """Numbers a differentiable model puts out: a logit for each choice, or the means."""
        if self.kind == "multi_discrete":
            return sum(len(part) for part in self.choices)
        return len(self.names)

    @staticmethod
    def discrete(names: tuple[str, ...], start: int = 0) -> "Actions":
        return Actions("discrete", tuple(names), start=(start,) if start else ())

    @staticmethod
    def multi_discrete(
        names: tuple[str, ...], choices: tuple[tuple[str, ...], ...], start: tuple[int, ...] = ()
    ) -> "Actions":
        return Actions("multi_discrete", tuple(names), choices=choices, start=start)

    @staticmethod
    def box(
        names: tuple[str, ...],
        low: tuple[float, ...],
        high: tuple[float, ...],
        dtype: str = "float32",
        shape: tuple[int, ...] = (),
    ) -> "Actions":
        return Actions("box", tuple(names), low=low, high=high, dtype=dtype, shape=shape)
