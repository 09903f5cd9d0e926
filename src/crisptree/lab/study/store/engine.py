"""Connections: an SQLite file or PostgreSQL, set up so that what was committed stays.

SQLite writes ahead (WAL) and waits for the disk at every commit; every transaction takes the
write lock at its start, so that two never wait for each other. PostgreSQL's defaults are right.
"""

from pathlib import Path

from sqlalchemy import URL, Engine, create_engine, event, inspect, make_url
from sqlalchemy.exc import ArgumentError, DatabaseError

from crisptree.base.errors import CrisptreeError
from crisptree.lab.study.store.tables import METADATA

WAIT_FOR_LOCK_MS = 20_000
CONNECTIONS = 10
WAIT_FOR_CONNECTION_S = 20


def open_engine(database: str) -> Engine:
    """The engine for a URL, or for the name of an SQLite file; its tables exist afterwards."""
    url = database_url(database)
    try:
        engine = create_engine(
            url,
            pool_size=CONNECTIONS,
            max_overflow=0,
            pool_timeout=WAIT_FOR_CONNECTION_S,
            pool_pre_ping=url.get_backend_name() == "postgresql",
        )
    except ImportError as error:
        raise CrisptreeError(
            f"PostgreSQL needs a driver: pip install 'crisptree[pg]' ({error})"
        ) from None
    if url.get_backend_name() == "sqlite":
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(
            engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE")
        )
    try:
        METADATA.create_all(engine)
        known = _has_our_columns(engine)
    except DatabaseError as error:
        reason = str(error.orig).strip().splitlines()[0]
        raise CrisptreeError(f"cannot open the database {name_of(url)}: {reason}") from None
    if not known:
        raise CrisptreeError(
            f"the tables in {name_of(url)} were set up by another version of crisptree; "
            "use that version, or another database"
        )
    return engine


def open_existing(database: str) -> Engine:
    """The engine of a database that must be there: a slip of the pen makes no empty one."""
    url = database_url(database)
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").exists():
        raise CrisptreeError(
            f"there is no database {url.database}; `crisptree study serve` makes one"
        )
    return open_engine(database)


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


def _has_our_columns(engine: Engine) -> bool:
    there = inspect(engine)
    return all(
        {column["name"] for column in there.get_columns(name)} == set(table.columns.keys())
        for name, table in METADATA.tables.items()
    )


def name_of(url: URL) -> str:
    """The database as one may tell others: a file, or a URL without its password."""
    if url.get_backend_name() == "sqlite":
        return url.database or ""
    return url.set(drivername="postgresql").render_as_string(hide_password=True)


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


def fold_journal(engine: Engine) -> None:
    """Fold SQLite's journal into its file, so that what was deleted does not live on in it."""
    if engine.dialect.name == "sqlite":
        connection = engine.raw_connection()
        try:
            connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            connection.close()
