"""Simulated people, for planning a study and for showing what a report looks like.

They are drawn from assumptions the researcher states, never from anybody's data, and whatever is
made of them says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.lab.study.measures import Measured
from crisptree.lab.study.questionnaire import POINTS


@dataclass(frozen=True)
class Assumptions:
    """What a researcher expects of people, aid by aid."""

    ratings: tuple[float, ...]
    """The mean rating of each aid, 1 … 7, reversed statements turned."""
    seconds: tuple[float, ...]
    """The median time for one question."""
    correct: tuple[float, ...]
    """The chance of a right answer."""
    rating_sd_people: float = 0.7
    """How far people differ in how they rate on the whole."""
    rating_sd_aids: float = 0.8
    """How far a person's view of one aid departs from that."""
    rating_sd_statements: float = 1.0
    """How far a rating of one statement departs from that."""
    log_seconds_sd_people: float = 0.4
    """How far people differ in speed, in logarithms: 0.4 is about half as long again."""
    log_seconds_sd_aids: float = 0.3
    log_seconds_sd_items: float = 0.4

    def __post_init__(self) -> None:
        k = len(self.ratings)
        if k < 2 or len(self.seconds) != k or len(self.correct) != k:
            raise CrisptreeError(
                f"{k} ratings, {len(self.seconds)} times and {len(self.correct)} chances of a "
                "right answer were given; each aid needs one of each, and there must be two aids"
            )
        if not all(1 <= rating <= len(POINTS) for rating in self.ratings):
            raise CrisptreeError(f"a mean rating must lie in 1 … {len(POINTS)}")
        if not all(0 < seconds < 86_400 for seconds in self.seconds):
            raise CrisptreeError("a time must be more than 0 seconds, and less than a day")
        if not all(0 <= chance <= 1 for chance in self.correct):
            raise CrisptreeError("the chance of a right answer must lie in 0 … 1")


def simulate_study(
    assumed: Assumptions,
    n_people: int,
    n_items: int,
    n_statements: int,
    rng: np.random.Generator,
    aids: Sequence[str] | None = None,
) -> Measured:
    """One study of simulated people.

    A rating is round(mean_j + person_i + view_ij + noise), kept in 1 … 7; a time is
    exp(log median_j + person_i + view_ij + noise); both noises are normal and of one item each.
    """
    k = len(assumed.ratings)

    def views(sd_people: float, sd_aids: float) -> np.ndarray:
        people = sd_people * rng.standard_normal((n_people, 1, 1))
        return people + sd_aids * rng.standard_normal((n_people, k, 1))

    latent = (
        np.array(assumed.ratings)[:, None]
        + views(assumed.rating_sd_people, assumed.rating_sd_aids)
        + assumed.rating_sd_statements * rng.standard_normal((n_people, k, n_statements))
    )
    scores = np.clip(np.round(latent), 1, len(POINTS))
    log_seconds = (
        np.log(np.array(assumed.seconds))[:, None]
        + views(assumed.log_seconds_sd_people, assumed.log_seconds_sd_aids)
        + assumed.log_seconds_sd_items * rng.standard_normal((n_people, k, n_items))
    )
    right = rng.random((n_people, k, n_items)) < np.array(assumed.correct)[:, None]
    return Measured(
        aids=tuple(aids) if aids else tuple(f"aid {at + 1}" for at in range(k)),
        people=tuple(range(1, n_people + 1)),
        n_items=n_items,
        accuracy=right.mean(axis=2),
        seconds=np.exp(log_seconds).sum(axis=2),
        rating=scores.mean(axis=2),
        statements=tuple(f"statement {at + 1}" for at in range(n_statements)),
        scores=scores,
        excluded=(),
        rule="The people were simulated, so there is no rule.",
        simulated=True,
    )
