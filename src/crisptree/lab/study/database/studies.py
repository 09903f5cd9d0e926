"""Studies in the database, set up once and found again by name, and researchers' sessions."""

import secrets
import time

from sqlalchemy import Connection, delete, insert, select

from crisptree.base.errors import CrisptreeError
from crisptree.lab.study.database.schema import sessions, studies
from crisptree.lab.study.definition import Definition
from crisptree.lab.study.records import Study


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def create_study(connection: Connection, name: str, definition: Definition) -> Study:
    """A new study; the name must be free."""
    if find_study(connection, name) is not None:
        raise CrisptreeError(f"the database has a study {name!r} already")
    row = {
        "name": name,
        "definition": definition.to_dict(),
        "signing_key": secrets.token_hex(32),
        "join_code": secrets.token_urlsafe(12),
        "last_number": 0,
        "created_at": now_ms(),
    }
    connection.execute(insert(studies).values(row))
    return the_study(connection, name)


def find_study(connection: Connection, name: str) -> Study | None:
    row = connection.execute(select(studies).where(studies.c.name == name)).one_or_none()
    if row is None:
        return None
    definition = Definition.from_dict(row.definition)
    return Study(row.id, row.name, definition, row.signing_key, row.join_code)


def the_study(connection: Connection, name: str) -> Study:
    """The study of that name, or an error that lists those there are."""
    study = find_study(connection, name)
    if study is None:
        names = connection.execute(select(studies.c.name).order_by(studies.c.id)).scalars().all()
        there = f"its studies are {', '.join(names)}" if names else "it has none yet"
        raise CrisptreeError(f"the database has no study {name!r}; {there}")
    return study


def open_session(connection: Connection, study: Study, token_hash: str, lifetime_ms: int) -> None:
    """Note that a researcher signed in, and forget sessions that have expired."""
    connection.execute(delete(sessions).where(sessions.c.opened_at < now_ms() - lifetime_ms))
    row = {"token_hash": token_hash, "study_id": study.id, "opened_at": now_ms()}
    connection.execute(insert(sessions).values(row))


def session_is_open(
    connection: Connection, study: Study, token_hash: str, lifetime_ms: int
) -> bool:
    opened_at = connection.execute(
        select(sessions.c.opened_at).where(
            sessions.c.token_hash == token_hash, sessions.c.study_id == study.id
        )
    ).scalar()
    return opened_at is not None and opened_at >= now_ms() - lifetime_ms


def close_session(connection: Connection, token_hash: str) -> None:
    """End a session: its token opens nothing any more."""
    connection.execute(delete(sessions).where(sessions.c.token_hash == token_hash))
