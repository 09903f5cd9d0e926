"""The content of the page: what a reviewer is told of a policy."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.envs.evaluate import Score

Verdict = Literal["proved", "refuted", "undecided", "regions", "rejected"]
State = Literal["equal", "differs", "not checked"]


@dataclass(frozen=True)
class Episode:
    """One episode, step by step."""

    seed: int
    earned: float
    ended: str
    observations: NDArray
    """`(steps, features)`: what the policy decided on."""
    leaves: NDArray[np.int64]
    """`(steps,)`: the leaf that decided."""
    pictures: tuple[tuple[int, bytes], ...] = ()
    """Steps and what the environment looked like then, as PNG."""


@dataclass(frozen=True)
class Played:
    """Episodes that nothing was trained or chosen on."""

    score: Score
    lengths: NDArray[np.int64]
    """Steps of each episode."""
    states: NDArray
    """Every observation of some of them, `(states, features)`."""
    counted: int
    """In how many episodes they were met."""
    worst: Episode | None


@dataclass(frozen=True)
class Comparison:
    """One node on the way of an observation through the tree."""

    question: str
    value: float
    is_true: bool


@dataclass(frozen=True)
class Finding:
    """A property with its answer."""

    question: str
    verdict: Verdict
    why: str
    values: tuple[tuple[str, float], ...] = ()
    """The observation or state that shows it, by name."""
    way: tuple[Comparison, ...] = ()
    """How that observation goes through the tree."""
    action: str = ""
    """What the tree does there."""
    course: NDArray[np.float64] | None = None
    """The states of an episode that begins there, `(steps, states)`."""
    regions: tuple[str, ...] = ()
    source: str = ""
    """The certificate that says so, where it is not this page's own proof."""


@dataclass(frozen=True)
class ExportCheck:
    """An export made anew and compared with the tree."""

    target: str
    language: str
    state: State
    observations: int
    note: str
    files: tuple[tuple[str, str], ...]
    """Names and SHA-256."""


@dataclass(frozen=True)
class Stage:
    """A stage of the training."""

    name: str
    leaves: str
    earned: str
    seconds: str


@dataclass(frozen=True)
class Review:
    """Everything that the page says."""

    tree: CrispTree
    name: str
    """Of the policy's file."""
    training: tuple[tuple[str, str], ...]
    """What is known of how the policy came about."""
    stages: tuple[Stage, ...]
    baselines: tuple[tuple[str, float], ...]
    played: Played | None
    not_played: str
    """Why no episodes were played."""
    findings: tuple[Finding, ...]
    exports: tuple[ExportCheck, ...]
    files: tuple[tuple[str, int, str], ...]
    """Names, sizes and SHA-256."""
    version: str
    date: str
    command: str
    """What made this page."""
