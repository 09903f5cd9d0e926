"""From rows to tables of people × policies; who is left out follows a rule that the report
states."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from crisptree.base.errors import CrisptreeError
from crisptree.lab.study.answer_table import Row
from crisptree.lab.study.questionnaire import Statement

MOST_AWAY_SECONDS = 60.0


@dataclass(frozen=True)
class Excluded:
    participant: int
    reason: str


@dataclass(frozen=True)
class Measured:
    """What the statistics see: one row for each person, one column for each policy."""

    policies: tuple[str, ...]
    people: tuple[int, ...]
    n_items: int
    accuracy: Float[np.ndarray, "people policies"]
    """The share of questions answered as the policy would act."""
    error: Float[np.ndarray, "people policies"]
    """How far numbers were off on average; NaN where the answers are choices."""
    seconds: Float[np.ndarray, "people policies"]
    """For all questions about a policy together, as in the paper."""
    rating: Float[np.ndarray, "people policies"]
    """The mean over the statements, reversed ones turned: higher is better, 1 … 7."""
    statements: tuple[str, ...]
    scores: Float[np.ndarray, "people policies statements"]
    excluded: tuple[Excluded, ...]
    rule: str
    simulated: bool
    """Whether the people are simulated."""


def exclusion_rule(most_away_seconds: float) -> str:
    return (
        "Left out is who did not finish, who answered a question that was never shown or in no "
        "time at all (a program, not a person), and who was away from the questions (in another "
        f"window or tab) for more than {most_away_seconds:g} seconds altogether."
    )


def measure(
    rows: Sequence[Row],
    policies: Sequence[str],
    statements: Sequence[Statement],
    most_away_seconds: float = MOST_AWAY_SECONDS,
) -> Measured:
    """The tables. Simulated people count only where there are no others."""
    if not most_away_seconds >= 0:
        raise CrisptreeError(f"most-away is {most_away_seconds:g}; it must not be negative")
    by_person: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        by_person[row.participant].append(row)
    simulated = bool(rows) and all(row.simulated for row in rows)
    reasons = {
        number: _reason(own, simulated, most_away_seconds)
        for number, own in sorted(by_person.items())
    }
    kept = [number for number, reason in reasons.items() if not reason]
    names = tuple(statement.name for statement in statements)

    def table(of: Callable[[list[Row]], Any], *shape: int) -> np.ndarray:
        """One value for each person kept and each policy."""
        found = np.zeros((len(kept), len(policies), *shape))
        for i, number in enumerate(kept):
            for j, policy in enumerate(policies):
                found[i, j] = of([row for row in by_person[number] if row.policy == policy])
        return found

    scores = table(lambda own: _scores(own, names), len(names))
    return Measured(
        policies=tuple(policies),
        people=tuple(kept),
        n_items=sum(r.kind == "item" and r.policy == policies[0] for r in by_person[kept[0]])
        if kept
        else 0,
        accuracy=table(lambda own: np.mean(_items(own, "correct"))),
        error=table(lambda own: np.mean(_items(own, "error"))),
        seconds=table(lambda own: np.sum(_items(own, "seconds"))),
        rating=scores.mean(axis=2) if names else np.zeros((len(kept), len(policies))),
        statements=names,
        scores=scores,
        excluded=tuple(Excluded(number, reason) for number, reason in reasons.items() if reason),
        rule=exclusion_rule(most_away_seconds),
        simulated=simulated,
    )


def _reason(own: Sequence[Row], simulated: bool, most_away_seconds: float) -> str:
    items = [row for row in own if row.kind == "item"]
    away = sum(row.away_seconds or 0.0 for row in items)
    if own[0].simulated and not simulated:
        return "simulated"
    if not own[0].finished:
        return "did not finish"
    if any(row.seconds is None for row in items):
        return "sent answers to pages that were never shown"
    if any(row.seconds == 0 for row in items):
        return "answered in no time"
    if away > most_away_seconds:
        return f"away for {away:.0f} seconds"
    return ""


def _items(own: Iterable[Row], column: str) -> list[float]:
    values = [getattr(row, column) for row in own if row.kind == "item"]
    return [math.nan if value is None else float(value) for value in values]


def _scores(own: Iterable[Row], names: tuple[str, ...]) -> list[float]:
    found = {row.question: row.score for row in own if row.kind == "rating"}
    return [float(found[name] or 0) for name in names]
