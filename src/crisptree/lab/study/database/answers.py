"""Answers: each is stored once, and the first one stays."""

from typing import Any

from sqlalchemy import Connection, select, update
from sqlalchemy.dialects import postgresql, sqlite

from crisptree.lab.study.answer_table import Row, answer_rows
from crisptree.lab.study.database.participants import all_participants, begin, finish
from crisptree.lab.study.database.schema import answers, participants, views
from crisptree.lab.study.database.studies import now_ms
from crisptree.lab.study.page_sequence import Page
from crisptree.lab.study.records import Answer, Participant, Study, Timing

CLOCK_SLACK_MS = 2_000
ANSWER_COLUMNS = [column.name for column in answers.columns]


def note_view(connection: Connection, participant: Participant, page: Page) -> None:
    """Note when a page was first shown, and how often."""
    row = {"participant_id": participant.id, "page": page.key}
    is_new = _insert_once(connection, views, {**row, "first_shown_at": now_ms(), "times_shown": 1})
    if not is_new:
        connection.execute(
            update(views)
            .where(views.c.participant_id == participant.id, views.c.page == page.key)
            .values(times_shown=views.c.times_shown + 1)
        )


def store_answer(
    connection: Connection,
    study: Study,
    participant: Participant,
    page: Page,
    value: dict[str, Any],
    timing: Timing | None,
) -> bool:
    """Store an answer for good; False if there was one already, which then stays.

    The same transaction draws the orders with the first answer, and the completion code with the
    last.
    """
    shown = connection.execute(
        select(views.c.first_shown_at).where(
            views.c.participant_id == participant.id, views.c.page == page.key
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
            "page": page.key,
            "value": value,
            "stored_at": stored_at,
            "browser_ms": timing and timing.ms,
            "away_ms": timing and timing.away_ms,
            "focus_log": timing and timing.focus_log,
        },
    )
    if is_new and page.kind == "consent":
        begin(connection, study, participant)
    if is_new and page.kind == "closing":
        finish(connection, participant)
    return is_new


def answered_pages(connection: Connection, participant: Participant) -> dict[str, dict[str, Any]]:
    """The participant's answers by page."""
    rows = connection.execute(
        select(answers.c.page, answers.c.value).where(answers.c.participant_id == participant.id)
    ).all()
    return {row.page: row.value for row in rows}


def all_answers(connection: Connection, study: Study) -> list[Answer]:
    """Every answer in the study, with when its page was shown."""
    seen = (views.c.participant_id == answers.c.participant_id) & (views.c.page == answers.c.page)
    rows = connection.execute(
        select(answers, views.c.first_shown_at, views.c.times_shown)
        .select_from(answers.join(participants).outerjoin(views, seen))
        .where(participants.c.study_id == study.id)
        .order_by(participants.c.number, answers.c.stored_at, answers.c.page)
    ).all()
    return [
        Answer(
            **{name: getattr(row, name) for name in ANSWER_COLUMNS},
            first_shown_at=row.first_shown_at,
            times_shown=row.times_shown or 0,
        )
        for row in rows
    ]


def read_rows(connection: Connection, study: Study) -> list[Row]:
    """The study's answers as a table."""
    return answer_rows(study, all_participants(connection, study), all_answers(connection, study))


def _insert_once(connection: Connection, table: Any, row: dict[str, Any]) -> bool:
    """Insert a row unless its key is taken; whether it was inserted."""
    is_sqlite = connection.dialect.name == "sqlite"
    statement = sqlite.insert(table) if is_sqlite else postgresql.insert(table)
    statement = statement.values(row).on_conflict_do_nothing().returning(table.c.page)
    return connection.execute(statement).one_or_none() is not None
