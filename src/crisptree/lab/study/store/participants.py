"""Participants: invited with a link only they know, found by it, deleted by their number."""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from crisptree.lab.study.orders import balanced_orders, next_row, shuffled_items
from crisptree.lab.study.steps import Plan
from crisptree.lab.study.store.studies import Study, now_ms
from crisptree.lab.study.store.tables import answers, participants, studies, views

LINK_BYTES = 24
CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
CODE_LENGTH = 8


@dataclass(frozen=True)
class Participant:
    id: int
    study_id: int
    number: int
    link_hash: str
    simulated: bool
    plan: Plan | None
    """None until the participant has agreed to take part."""
    begun_at: int | None
    finished_at: int | None
    completion_code: str | None


def hash_of(link: str) -> str:
    return hashlib.sha256(link.encode()).hexdigest()


def invite(
    connection: Connection, study: Study, count: int, *, simulated: bool = False
) -> list[str]:
    """New participants; their secret links, which are stored nowhere."""
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
            "simulated": simulated,
            "created_at": now_ms(),
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
    return None if row is None else _participant(row)


def all_participants(connection: Connection, study: Study) -> list[Participant]:
    rows = connection.execute(
        select(participants)
        .where(participants.c.study_id == study.id)
        .order_by(participants.c.number)
    ).all()
    return list(map(_participant, rows))


def count_waiting(connection: Connection, study: Study) -> int:
    """How many have a link and have not begun."""
    return connection.execute(
        select(func.count()).where(
            participants.c.study_id == study.id, participants.c.begun_at.is_(None)
        )
    ).scalar_one()


def begin(connection: Connection, study: Study, participant: Participant) -> None:
    """Draw the participant's orders, unless that was done before.

    Orders are dealt out when people begin, not when they are invited: who never comes leaves no
    hole in the Latin square.
    """
    _lock(connection, study)
    n_aids = len(study.definition.blocks)
    orders = balanced_orders(n_aids)
    used = connection.execute(
        select(participants.c.order_row).where(
            participants.c.study_id == study.id, participants.c.order_row.is_not(None)
        )
    ).scalars()
    row = next_row(list(used), len(orders))
    items = shuffled_items(
        n_aids, study.definition.n_items, study.definition.seed, participant.number
    )
    connection.execute(
        update(participants)
        .where(participants.c.id == participant.id, participants.c.begun_at.is_(None))
        .values(begun_at=now_ms(), order_row=row, plan=asdict(Plan(orders[row], items)))
    )


def finish(connection: Connection, participant: Participant) -> None:
    """Note the end and draw a completion code, unless that was done before."""
    code = "".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH))
    connection.execute(
        update(participants)
        .where(participants.c.id == participant.id, participants.c.finished_at.is_(None))
        .values(finished_at=now_ms(), completion_code=code)
    )


def forget(connection: Connection, study: Study, number: int) -> bool:
    """Delete one participant with all answers; whether there was one."""
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
    """One at a time from here to the end of the transaction; SQLite's are that anyway."""
    connection.execute(select(studies.c.id).where(studies.c.id == study.id).with_for_update())


def _participant(row: Any) -> Participant:
    plan = row.plan
    return Participant(
        id=row.id,
        study_id=row.study_id,
        number=row.number,
        link_hash=row.link_hash,
        simulated=row.simulated,
        plan=None if plan is None else Plan(tuple(plan["aids"]), _orders(plan["items"])),
        begun_at=row.begun_at,
        finished_at=row.finished_at,
        completion_code=row.completion_code,
    )


def _orders(orders: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    return tuple(map(tuple, orders))
