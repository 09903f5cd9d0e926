import errno
import os

import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.base.files import read_bytes, read_text, write_atomically


def test_the_text_arrives_as_utf8_with_plain_line_ends(tmp_path):
    write_atomically(tmp_path / "file", "θ > 1\nleft\n")
    assert (tmp_path / "file").read_bytes() == "θ > 1\nleft\n".encode()
    assert os.listdir(tmp_path) == ["file"]


def test_an_ordinary_file_mode(tmp_path):
    write_atomically(tmp_path / "file", "")
    (tmp_path / "other").write_text("")
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_what_was_there_is_replaced(tmp_path):
    (tmp_path / "file").write_text("old, and longer")
    write_atomically(tmp_path / "file", "new")
    assert (tmp_path / "file").read_text() == "new"


@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device")])
def test_a_full_disk_loses_nothing(tmp_path, monkeypatch, call, error):
    def fail(*arguments):
        raise error

    (tmp_path / "file").write_text("old")
    monkeypatch.setattr(os, call, fail)
    with pytest.raises(CrisptreeError, match=r"cannot write .*file: No space left on device"):
        write_atomically(tmp_path / "file", "new")
    assert os.listdir(tmp_path) == ["file"]
    assert (tmp_path / "file").read_text() == "old"


def test_an_interrupt_leaves_nothing_behind(tmp_path, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "file", "new")
    assert os.listdir(tmp_path) == []


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(CrisptreeError, match=r"cannot write .*none.file: No such file"):
        write_atomically(tmp_path / "none" / "file", "new")


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_something_else_where_the_file_should_be(tmp_path, make):
    """Above all a device: taking the name of /dev/null would replace it for everyone."""
    make(tmp_path / "file")
    with pytest.raises(CrisptreeError, match=r"cannot write .*file: it is not an ordinary file"):
        write_atomically(tmp_path / "file", "new")
    assert os.listdir(tmp_path) == ["file"]
    assert not (tmp_path / "file").is_file()


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_atomically(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_long_name(tmp_path):
    write_atomically(tmp_path / ("x" * 255), "new")
    assert os.listdir(tmp_path) == ["x" * 255]


def test_a_name_no_file_can_have():
    with pytest.raises(CrisptreeError, match="cannot write"):
        write_atomically("a\0b", "new")


def test_what_is_too_large_is_refused(tmp_path):
    (tmp_path / "a").write_text("äbc", encoding="utf-8")
    assert read_text(tmp_path / "a", 4) == "äbc" and read_bytes(tmp_path / "a", 4) == b"\xc3\xa4bc"
    with pytest.raises(CrisptreeError, match="a is larger than 0 MiB"):
        read_text(tmp_path / "a", 3)
    with pytest.raises(CrisptreeError, match="is larger than 64 MiB"):
        read_bytes("/dev/zero")
