"""Participants: invited with a link only they know, found by it, deleted by their number."""

import hashlib
import secrets
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from crisptree.base.errors import CrisptreeError
from crisptree.lab.study.database.schema import answers, participants, studies, views
from crisptree.lab.study.database.studies import now_ms
from crisptree.lab.study.page_sequence import (
    Assignment,
    balanced_orders,
    next_row,
    shuffled_items,
)
from crisptree.lab.study.records import Participant, Study

LINK_BYTES = 24
CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
CODE_LENGTH = 8


def hash_of(link: str) -> str:
    return hashlib.sha256(link.encode()).hexdigest()


def invite(
    connection: Connection, study: Study, count: int, *, simulated: bool = False
) -> list[str]:
    """The secret links of `count` new participants; the links are stored nowhere."""
    return _add(connection, study, count, simulated=simulated, is_newcomer=False)


def add_newcomer(connection: Connection, study: Study) -> str:
    """The secret link of a new participant who came by the open link."""
    return _add(connection, study, 1, simulated=False, is_newcomer=True)[0]


def _add(connection: Connection, study: Study, count: int, **columns: bool) -> list[str]:
    links = [secrets.token_urlsafe(LINK_BYTES) for _ in range(count)]
    last = connection.execute(
        update(studies)
        .where(studies.c.id == study.id)
        .values(last_number=studies.c.last_number + count)
        .returning(studies.c.last_number)
    ).scalar_one()
    rows = [
        {
            "study_id": study.id,
            "number": last - count + at,
            "link_hash": hash_of(link),
            "created_at": now_ms(),
            **columns,
        }
        for at, link in enumerate(links, start=1)
    ]
    connection.execute(insert(participants), rows)
    return links


def find_by_link(connection: Connection, study: Study, link: str) -> Participant | None:
    """The participant of this study with that link."""
    row = connection.execute(
        select(participants).where(
            participants.c.link_hash == hash_of(link), participants.c.study_id == study.id
        )
    ).one_or_none()
    return None if row is None else _participant(study, row)


def all_participants(connection: Connection, study: Study) -> list[Participant]:
    rows = connection.execute(
        select(participants)
        .where(participants.c.study_id == study.id)
        .order_by(participants.c.number)
    ).all()
    return [_participant(study, row) for row in rows]


def count_idle_newcomers(connection: Connection, study: Study) -> int:
    """How many came by the open link and have not begun."""
    return connection.execute(
        select(func.count()).where(
            participants.c.study_id == study.id,
            participants.c.is_newcomer,
            participants.c.begun_at.is_(None),
        )
    ).scalar_one()


def begin(connection: Connection, study: Study, participant: Participant) -> None:
    """Draw the participant's orders, unless that was done before.

    Orders are assigned when people begin, not when they are invited: somebody who never comes
    leaves no gap in the Latin square.
    """
    _lock(connection, study)
    n_policies = len(study.definition.blocks)
    orders = balanced_orders(n_policies)
    used = connection.execute(
        select(participants.c.order_row).where(
            participants.c.study_id == study.id, participants.c.order_row.is_not(None)
        )
    ).scalars()
    row = next_row(list(used), len(orders))
    items = shuffled_items(
        n_policies, study.definition.n_items, study.definition.seed, participant.number
    )
    connection.execute(
        update(participants)
        .where(participants.c.id == participant.id, participants.c.begun_at.is_(None))
        .values(begun_at=now_ms(), order_row=row, assignment=asdict(Assignment(orders[row], items)))
    )


def finish(connection: Connection, participant: Participant) -> None:
    """Note the end and draw a completion code, unless that was done before."""
    code = "".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH))
    connection.execute(
        update(participants)
        .where(participants.c.id == participant.id, participants.c.finished_at.is_(None))
        .values(finished_at=now_ms(), completion_code=code)
    )


def delete_participant(connection: Connection, study: Study, number: int) -> bool:
    """Delete one participant with all answers; whether there was one."""
    if not 0 < number < 2**31:
        return False
    found = connection.execute(
        select(participants.c.id).where(
            participants.c.study_id == study.id, participants.c.number == number
        )
    ).scalar()
    if found is None:
        return False
    for table in (answers, views):
        connection.execute(delete(table).where(table.c.participant_id == found))
    connection.execute(delete(participants).where(participants.c.id == found))
    return True


def _lock(connection: Connection, study: Study) -> None:
    """Lock out other transactions until this one ends; SQLite does so by itself."""
    connection.execute(select(studies.c.id).where(studies.c.id == study.id).with_for_update())


def _participant(study: Study, row: Any) -> Participant:
    return Participant(
        id=row.id,
        number=row.number,
        link_hash=row.link_hash,
        simulated=row.simulated,
        assignment=None if row.assignment is None else _assignment(study, row),
        begun_at=row.begun_at,
        finished_at=row.finished_at,
        completion_code=row.completion_code,
    )


def _assignment(study: Study, row: Any) -> Assignment:
    definition = study.definition
    places = range(len(definition.blocks)), range(definition.n_items)
    try:
        blocks, items = row.assignment["blocks"], row.assignment["items"]
        if sorted(blocks) == list(places[0]) and all(
            sorted(items[at]) == list(places[1]) for at in places[0]
        ):
            return Assignment(tuple(blocks), tuple(map(tuple, items)))
    except (KeyError, IndexError, TypeError):
        pass
    raise CrisptreeError(f"the orders of participant {row.number} are damaged in the database")
