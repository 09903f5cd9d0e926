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
    with pytest.raises(RuntimeError, match=r"failed its check.*error"):
        programs.compiled(code._replace(source=code.source.replace("return", "retrun", 1)))
