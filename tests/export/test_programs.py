import shutil

import pytest
from export_trees import grown

from crisptree.base.errors import CrisptreeError
from crisptree.export import as_c, as_javascript, programs


def test_no_compiler(monkeypatch):
    monkeypatch.setattr(programs.shutil, "which", lambda name: None)
    with pytest.raises(CrisptreeError, match=r"a C compiler .*--unchecked"):
        programs.compiled(as_c(grown(2, 0)))
    with pytest.raises(CrisptreeError, match=r"Node\.js .*--unchecked"):
        programs.in_node(as_javascript(grown(2, 0)))


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
def test_code_that_does_not_compile_says_what_the_compiler_said():
    code = as_c(grown(2, 0))
    with pytest.raises(CrisptreeError, match=r"failed its check: .*error.*--unchecked") as caught:
        programs.compiled(code._replace(source=code.source.replace("return", "retrun", 1)))
    assert str(caught.value).isprintable()


def test_a_compiler_that_fails_is_one_line(tmp_path, monkeypatch):
    compiler = tmp_path / "cc"
    compiler.write_text("#!/bin/sh\necho 'fatal error: stdint.h is not there' >&2\nexit 1\n")
    compiler.chmod(0o700)
    monkeypatch.setattr(programs.shutil, "which", lambda name: str(compiler))
    said = "^the export failed its check: cc: fatal error: stdint.h is not there; --unchecked"
    with pytest.raises(CrisptreeError, match=said):
        programs.compiled(as_c(grown(2, 0)))
