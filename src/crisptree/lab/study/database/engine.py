"""Connections: an SQLite file or PostgreSQL, set up so that what was committed stays.

SQLite writes ahead (WAL) and waits for the disk at every commit; every transaction takes the
write lock at its start, so that two never wait for each other. Its files are readable by their
owner only. PostgreSQL's defaults are right.
"""

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from json import JSONDecodeError
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from crisptree.base.errors import CrisptreeError
from crisptree.base.text import printable
from crisptree.lab.study.database.schema import METADATA

WAIT_FOR_LOCK_MS = 20_000
CONNECTIONS = 10
WAIT_FOR_CONNECTION_S = 20
OWNER_ONLY = 0o600
SQLITE_START = b"SQLite format 3\0"
LONGEST_REASON = 200
FAILURES = (SQLAlchemyError, sqlite3.Error, JSONDecodeError, UnicodeDecodeError)
"""Errors of a broken connection or a damaged file."""


def open_engine(database: str) -> Engine:
    """The engine for a URL, or for the name of an SQLite file; its tables exist afterwards."""
    url = database_url(database)
    is_sqlite = url.get_backend_name() == "sqlite"
    try:
        engine = create_engine(
            url,
            pool_size=CONNECTIONS,
            max_overflow=0,
            pool_timeout=WAIT_FOR_CONNECTION_S,
            pool_pre_ping=not is_sqlite,
        )
    except ImportError as error:
        raise CrisptreeError(
            f"PostgreSQL needs a driver: pip install 'crisptree[pg]' ({error})"
        ) from None
    if is_sqlite:
        _create_private(url)
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(
            engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE")
        )
    try:
        METADATA.create_all(engine)
        is_ours = _has_our_columns(engine)
    except FAILURES as error:
        engine.dispose()
        raise CrisptreeError(f"cannot open the database {name_of(url)}: {_reason(error)}") from None
    if not is_ours:
        engine.dispose()
        raise CrisptreeError(
            f"the tables in {name_of(url)} were set up by another version of crisptree; "
            "use that version, or another database"
        )
    if is_sqlite:
        _make_private(url)
    return engine


def open_existing(database: str) -> Engine:
    """The engine of an existing database: a misspelt name does not create an empty one."""
    url = database_url(database)
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").exists():
        raise CrisptreeError(
            f"there is no database {url.database}; `crisptree study serve` makes one"
        )
    return open_engine(database)


@contextlib.contextmanager
def transaction(engine: Engine) -> Iterator[Connection]:
    """The transaction of a command; afterwards no connection stays open. Errors of the database are
    raised in one line."""
    try:
        with engine.begin() as connection:
            yield connection
    except FAILURES as error:
        where = name_of(engine.url)
        raise CrisptreeError(f"the database {where} cannot be used: {_reason(error)}") from None
    finally:
        engine.dispose()


def database_url(database: str) -> URL:
    """`postgresql://…`, `sqlite:///file`, or just a file's name."""
    if "://" not in database:
        return URL.create("sqlite", database=database)
    try:
        url = make_url(database)
    except (ArgumentError, ValueError):
        raise CrisptreeError("the database must be a file or a URL postgresql://…") from None
    if url.get_backend_name() == "sqlite":
        if not url.database or url.database == ":memory:":
            raise CrisptreeError("a study needs an SQLite file; one in memory would be lost")
        return url
    if url.get_backend_name() in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    raise CrisptreeError(
        f"the database is {url.get_backend_name()!r}; it must be SQLite or PostgreSQL"
    )


def name_of(url: URL) -> str:
    """The database as one may tell others: a file, or a URL without its password."""
    if url.get_backend_name() == "sqlite":
        return url.database or ""
    return url.set(drivername="postgresql").render_as_string(hide_password=True)


def truncate_journal(engine: Engine) -> None:
    """Write SQLite's journal into its file, so that deleted answers do not stay in the journal."""
    if engine.dialect.name == "sqlite":
        connection = engine.raw_connection()
        try:
            connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            connection.close()


def _create_private(url: URL) -> None:
    """Create the file so that nobody but its owner can read it, unless it is there: then it must
    be a database. (SQLite would overwrite a text of a few characters.)"""
    try:
        with open(os.open(url.database or "", os.O_RDWR | os.O_CREAT, OWNER_ONLY), "rb") as file:
            if file.read(len(SQLITE_START)) not in (b"", SQLITE_START):
                raise OSError("file is not a database")
    except (OSError, ValueError) as error:
        raise CrisptreeError(f"cannot open the database {name_of(url)}: {_reason(error)}") from None


def _make_private(url: URL) -> None:
    """Let only the owner read the file and its journals; files of other owners stay as they are."""
    for ending in ("", "-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError, PermissionError):
            os.chmod(f"{url.database}{ending}", OWNER_ONLY)


def _set_up_sqlite(connection, _record) -> None:
    connection.isolation_level = None  # the transactions are begun by the listener above
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
        "secure_delete=ON",  # a deleted participant's answers are overwritten
        f"busy_timeout={WAIT_FOR_LOCK_MS}",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _has_our_columns(engine: Engine) -> bool:
    there = inspect(engine)
    return all(
        {column["name"] for column in there.get_columns(name)} == set(table.columns.keys())
        for name, table in METADATA.tables.items()
    )


def _reason(error: Exception) -> str:
    """The first line of the driver's or the system's message."""
    said = error.orig if isinstance(error, DBAPIError) else getattr(error, "strerror", None)
    first = (str(said or error).strip().splitlines() or [type(error).__name__])[0]
    return printable(first[:LONGEST_REASON])
