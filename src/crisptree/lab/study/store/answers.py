"""Answers: each stored once, the first one for good."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select, update
from sqlalchemy.dialects import postgresql, sqlite

from crisptree.lab.study.steps import Step
from crisptree.lab.study.store.participants import Participant, begin, finish
from crisptree.lab.study.store.studies import Study, now_ms
from crisptree.lab.study.store.tables import answers, participants, views

CLOCK_SLACK_MS = 2_000


@dataclass(frozen=True)
class Timing:
    """What the browser measured for one page."""

    ms: int
    away_ms: int
    focus_log: list[list[Any]]
    """`[ms, "blur" | "focus"]`, from the moment the page was shown."""


@dataclass(frozen=True)
class Answer:
    participant_id: int
    step: str
    value: dict[str, Any]
    stored_at: int
    first_shown_at: int | None
    times_shown: int
    browser_ms: int | None
    away_ms: int | None
    focus_log: list[list[Any]] | None


def note_view(connection: Connection, participant: Participant, step: Step) -> None:
    """Remember when a page was first shown, and how often."""
    row = {"participant_id": participant.id, "step": step.key}
    is_new = _insert_once(connection, views, {**row, "first_shown_at": now_ms(), "times_shown": 1})
    if not is_new:
        connection.execute(
            update(views)
            .where(views.c.participant_id == participant.id, views.c.step == step.key)
            .values(times_shown=views.c.times_shown + 1)
        )


def store_answer(
    connection: Connection,
    study: Study,
    participant: Participant,
    step: Step,
    value: dict[str, Any],
    timing: Timing | None,
) -> bool:
    """Store an answer for good; False if there was one already, which then stays.

    What the first and the last answer bring with them (the orders, the completion code) is part
    of the same transaction.
    """
    shown = connection.execute(
        select(views.c.first_shown_at).where(
            views.c.participant_id == participant.id, views.c.step == step.key
        )
    ).scalar()
    stored_at = now_ms()
    if timing and (shown is None or timing.ms > stored_at - shown + CLOCK_SLACK_MS):
        timing = None  # longer than the page can have been open: that clock is wrong
    is_new = _insert_once(
        connection,
        answers,
        {
            "participant_id": participant.id,
            "step": step.key,
            "value": value,
            "stored_at": stored_at,
            "browser_ms": timing and timing.ms,
            "away_ms": timing and timing.away_ms,
            "focus_log": timing and timing.focus_log,
        },
    )
    if is_new and step.kind == "consent":
        begin(connection, study, participant)
    if is_new and step.kind == "closing":
        finish(connection, participant)
    return is_new


def answered_steps(connection: Connection, participant: Participant) -> dict[str, dict[str, Any]]:
    """The participant's answers by step."""
    rows = connection.execute(
        select(answers.c.step, answers.c.value).where(answers.c.participant_id == participant.id)
    ).all()
    return {row.step: row.value for row in rows}


def all_answers(connection: Connection, study: Study) -> list[Answer]:
    """Every answer in the study, with when its page was shown."""
    seen = (views.c.participant_id == answers.c.participant_id) & (views.c.step == answers.c.step)
    rows = connection.execute(
        select(answers, views.c.first_shown_at, views.c.times_shown)
        .select_from(answers.join(participants).outerjoin(views, seen))
        .where(participants.c.study_id == study.id)
        .order_by(participants.c.number, answers.c.stored_at, answers.c.step)
    ).all()
    return [
        Answer(
            participant_id=row.participant_id,
            step=row.step,
            value=row.value,
            stored_at=row.stored_at,
            first_shown_at=row.first_shown_at,
            times_shown=row.times_shown or 0,
            browser_ms=row.browser_ms,
            away_ms=row.away_ms,
            focus_log=row.focus_log,
        )
        for row in rows
    ]


def _insert_once(connection: Connection, table: Any, row: dict[str, Any]) -> bool:
    """Insert a row unless its key is taken; whether it was inserted."""
    is_sqlite = connection.dialect.name == "sqlite"
    statement = sqlite.insert(table) if is_sqlite else postgresql.insert(table)
    statement = statement.values(row).on_conflict_do_nothing().returning(table.c.step)
    return connection.execute(statement).one_or_none() is not None
