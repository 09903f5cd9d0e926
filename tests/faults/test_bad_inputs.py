"""Every bad input of the list: one line, which says what the list says, and no traceback."""

import pytest
from bad_inputs import bad_inputs, write_files
from command_line import command, fault

KIND = "kinds of bad input"

pytestmark = [pytest.mark.faults, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("bad")
    write_files(path)
    return path


def test_there_are_sixty_kinds():
    assert len({bad.what for bad in bad_inputs()}) >= 60


@pytest.mark.parametrize("bad", bad_inputs(), ids=lambda bad: bad.what)
def test_one_line(bad, folder, monkeypatch):
    monkeypatch.chdir(folder)
    said = command(*bad.command)
    assert fault(said, refused=True) is None
    assert bad.says in said.err
    assert said.out == ""
    assert not (folder / "imported").exists()
