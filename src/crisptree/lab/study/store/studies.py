"""Studies in the database: set up once, found again by name."""

import secrets
import time
from dataclasses import dataclass

from sqlalchemy import Connection, insert, select

from crisptree.base.errors import CrisptreeError
from crisptree.lab.study.definition import Definition
from crisptree.lab.study.store.tables import studies


@dataclass(frozen=True)
class Study:
    id: int
    name: str
    definition: Definition
    signing_key: str
    """What forms are signed with. It outlives the server, so that pages open in people's
    browsers stay good when the server is started again."""
    join_code: str


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
