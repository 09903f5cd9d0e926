"""Simulated people, for planning a study and for showing what a report looks like.

They are drawn from assumptions the researcher states, never from anybody's data, and whatever is
made of them says so.
"""

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from pydantic import Field, model_validator
from pydantic.dataclasses import dataclass

from crisptree.lab.study.measures import Measured
from crisptree.lab.study.questionnaire import POINTS

Deviation = Annotated[float, Field(ge=0, le=10)]
Deviations = tuple[Deviation, Deviation, Deviation]
Count = Annotated[int, Field(ge=1, le=200)]


@dataclass(frozen=True)
class Assumptions:
    """What a researcher expects of people, policy by policy."""

    ratings: tuple[Annotated[float, Field(ge=1, le=len(POINTS))], ...]
    """The mean rating of each policy, 1 … 7, reversed statements turned."""
    seconds: tuple[Annotated[float, Field(gt=0, lt=86_400)], ...]
    """The median time for one question."""
    correct: tuple[Annotated[float, Field(ge=0, le=1)], ...]
    """The chance of a right answer."""
    rating_sd: Deviations = (0.7, 0.8, 1.0)
    """How far people differ in their ratings on the whole, how far a person's view of one policy
    departs from that, and the rating of one statement from that."""
    log_seconds_sd: Deviations = (0.4, 0.3, 0.4)
    """The same for the logarithm of times: people, a person's policies, questions about one.
    0.4 is about half as long again."""
    items: Count = 5
    """Questions about each policy."""
    statements: Count = 5
    """Statements rated about each policy."""

    @model_validator(mode="after")
    def _one_of_each(self) -> "Assumptions":
        if not 2 <= len(self.ratings) == len(self.seconds) == len(self.correct):
            raise ValueError("each policy needs a rating, a time and a chance, and two are needed")
        return self


def simulate_study(
    assumed: Assumptions,
    n_people: int,
    rng: np.random.Generator,
    policies: Sequence[str] | None = None,
) -> Measured:
    """One study of simulated people.

    A rating is round(mean_j + person_i + view_ij + noise), kept in 1 … 7; a time is
    exp(log median_j + person_i + view_ij + noise); both noises are normal and of one item each.
    """
    k, n_items, n_statements = len(assumed.ratings), assumed.items, assumed.statements

    def views(sd_people: float, sd_policies: float) -> np.ndarray:
        people = sd_people * rng.standard_normal((n_people, 1, 1))
        return people + sd_policies * rng.standard_normal((n_people, k, 1))

    latent = (
        np.array(assumed.ratings)[:, None]
        + views(*assumed.rating_sd[:2])
        + assumed.rating_sd[2] * rng.standard_normal((n_people, k, n_statements))
    )
    scores = np.clip(np.round(latent), 1, len(POINTS))
    log_seconds = (
        np.log(np.array(assumed.seconds))[:, None]
        + views(*assumed.log_seconds_sd[:2])
        + assumed.log_seconds_sd[2] * rng.standard_normal((n_people, k, n_items))
    )
    right = rng.random((n_people, k, n_items)) < np.array(assumed.correct)[:, None]
    return Measured(
        policies=tuple(policies) if policies else tuple(f"policy {at + 1}" for at in range(k)),
        people=tuple(range(1, n_people + 1)),
        n_items=n_items,
        accuracy=right.mean(axis=2),
        error=np.full((n_people, k), np.nan),
        seconds=np.exp(log_seconds).sum(axis=2),
        rating=scores.mean(axis=2),
        statements=tuple(f"statement {at + 1}" for at in range(n_statements)),
        scores=scores,
        excluded=(),
        rule="The people were simulated, so there is no rule.",
        simulated=True,
    )
