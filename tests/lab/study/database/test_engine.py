import sqlite3

import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.lab.study.database import open_engine, open_existing
from crisptree.lab.study.database.engine import database_url, name_of


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("study.db", "sqlite:///study.db"),
        ("sqlite:///a/b.db", "sqlite:///a/b.db"),
        ("postgresql://me@host/name", "postgresql+psycopg://me@host/name"),
        ("postgres://me@host/name", "postgresql+psycopg://me@host/name"),
    ],
)
def test_what_a_database_may_be_called(given, url):
    assert database_url(given).render_as_string() == url


def test_a_database_is_named_without_its_password():
    assert name_of(database_url("a/study.db")) == "a/study.db"
    named = name_of(database_url("postgresql://me:sesame@host/name"))
    assert named == "postgresql://me:***@host/name"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("mysql://me@host/name", "must be SQLite or PostgreSQL"),
        ("sqlite://", "in memory would be lost"),
        ("sqlite:///:memory:", "in memory would be lost"),
        ("://", "must be a file or a URL"),
    ],
)
def test_other_databases_are_refused(given, message):
    with pytest.raises(CrisptreeError, match=message):
        database_url(given)


def test_a_database_that_cannot_be_opened_is_told_without_its_password(tmp_path):
    with pytest.raises(CrisptreeError, match="cannot open the database"):
        open_engine(str(tmp_path / "none" / "study.db"))
    with pytest.raises(CrisptreeError, match="cannot open the database") as caught:
        open_engine("postgresql://me:sesame@127.0.0.1:1/none?connect_timeout=2")
    assert "sesame" not in str(caught.value)


def test_a_file_that_is_no_database_is_told(tmp_path):
    (tmp_path / "notes.txt").write_text("Not a database at all. " * 100)
    with pytest.raises(CrisptreeError, match=r"notes\.txt: file is not a database"):
        open_engine(str(tmp_path / "notes.txt"))


def test_tables_of_another_version_are_told(tmp_path):
    path = tmp_path / "old.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE crisptree_studies (id INTEGER PRIMARY KEY, name TEXT)")
    connection.close()
    with pytest.raises(CrisptreeError, match="set up by another version of crisptree"):
        open_engine(str(path))


def test_only_serving_makes_a_database(tmp_path):
    path = tmp_path / "slip.db"
    with pytest.raises(CrisptreeError, match=r"there is no database .*slip\.db"):
        open_existing(str(path))
    assert not path.exists()
    open_engine(str(path)).dispose()
    open_existing(str(path)).dispose()


def test_sqlite_waits_for_the_disk_and_writes_ahead(sqlite_engine):
    with sqlite_engine.begin() as connection:
        pragma = lambda name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
        assert pragma("journal_mode") == "wal"
        assert pragma("synchronous") == 2  # FULL
        assert pragma("foreign_keys") == 1
        assert pragma("secure_delete") == 1


def modes(path):
    return {at.name: at.stat().st_mode & 0o777 for at in path.parent.glob(f"{path.name}*")}


def test_the_files_are_private_to_their_owner(tmp_path):
    path = tmp_path / "study.db"
    engine = open_engine(str(path))
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE x (y)")
        assert modes(path) == dict.fromkeys(("study.db", "study.db-wal", "study.db-shm"), 0o600)
    engine.dispose()


def test_files_that_others_could_read_become_private(tmp_path):
    path = tmp_path / "study.db"
    open_engine(str(path)).dispose()
    path.chmod(0o644)
    engine = open_engine(str(path))
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE x (y)")
        assert set(modes(path).values()) == {0o600}
    engine.dispose()


def test_a_file_that_is_no_database_keeps_its_permissions(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("Not a database at all. " * 100)
    path.chmod(0o644)
    with pytest.raises(CrisptreeError, match="not a database"):
        open_engine(str(path))
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_short_text_is_not_overwritten(tmp_path):
    path = tmp_path / "note"
    path.write_text("x")
    with pytest.raises(CrisptreeError, match="not a database"):
        open_engine(str(path))
    assert path.read_text() == "x"


def test_a_directory_is_no_database(tmp_path):
    with pytest.raises(CrisptreeError, match=r"cannot open the database .*: Is a directory"):
        open_engine(str(tmp_path))
