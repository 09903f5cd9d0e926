"""From rows to tables of people × aids, and who is left out, by a rule that is always shown."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from crisptree.lab.study.export import Row
from crisptree.lab.study.questionnaire import Statement

MOST_AWAY_SECONDS = 60.0


@dataclass(frozen=True)
class Excluded:
    participant: int
    reason: str


@dataclass(frozen=True)
class Measured:
    """What the statistics see: one row a person, one column an aid."""

    aids: tuple[str, ...]
    people: tuple[int, ...]
    n_items: int
    accuracy: Float[np.ndarray, "people aids"]
    """The share of questions answered as the policy would act."""
    seconds: Float[np.ndarray, "people aids"]
    """For all questions about an aid together, as in the paper."""
    rating: Float[np.ndarray, "people aids"]
    """The mean over the statements, reversed ones turned: higher is better, 1 … 7."""
    statements: tuple[str, ...]
    scores: Float[np.ndarray, "people aids statements"]
    excluded: tuple[Excluded, ...]
    rule: str
    simulated: bool
    """Whether these are no people at all."""


def exclusion_rule(most_away_seconds: float) -> str:
    return (
        "Left out is who did not finish, who answered a question that was never shown or in no "
        "time at all (a program, not a person), and who was away from the questions (in another "
        f"window or tab) for more than {most_away_seconds:g} seconds altogether."
    )


def measure(
    rows: Sequence[Row],
    aids: Sequence[str],
    statements: Sequence[Statement],
    most_away_seconds: float = MOST_AWAY_SECONDS,
) -> Measured:
    """The tables. Simulated people count only where there are no others."""
    by_person: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        by_person[row.participant].append(row)
    simulated = bool(rows) and all(row.simulated for row in rows)
    kept: list[int] = []
    excluded: list[Excluded] = []
    for number, own in sorted(by_person.items()):
        reason = _reason(own, simulated, most_away_seconds)
        if reason:
            excluded.append(Excluded(number, reason))
        else:
            kept.append(number)
    names = tuple(statement.name for statement in statements)
    scores = _table(by_person, kept, aids, lambda own: _scores(own, names), (len(names),))
    return Measured(
        aids=tuple(aids),
        people=tuple(kept),
        n_items=sum(r.kind == "item" and r.aid == aids[0] for r in by_person[kept[0]])
        if kept
        else 0,
        accuracy=_table(by_person, kept, aids, lambda own: np.mean(_items(own, "correct"))),
        seconds=_table(by_person, kept, aids, lambda own: np.sum(_items(own, "seconds"))),
        rating=scores.mean(axis=2) if names else np.zeros((len(kept), len(aids))),
        statements=names,
        scores=scores,
        excluded=tuple(excluded),
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


def _table(by_person, kept, aids, of, shape: tuple[int, ...] = ()) -> np.ndarray:
    table = np.zeros((len(kept), len(aids), *shape))
    for i, number in enumerate(kept):
        for j, aid in enumerate(aids):
            table[i, j] = of([row for row in by_person[number] if row.aid == aid])
    return table


def _items(own: Iterable[Row], column: str) -> list[float]:
    return [float(getattr(row, column)) for row in own if row.kind == "item"]


def _scores(own: Iterable[Row], names: tuple[str, ...]) -> list[float]:
    found = {row.question: row.score for row in own if row.kind == "rating"}
    return [float(found[name] or 0) for name in names]
