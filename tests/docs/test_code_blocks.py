"""Every code block of the documentation runs, page by page, each page in a folder of its own.

`tests/docs/pages.py` says what a comment before a block means; `shell.py` how commands are run.
"""

import json
import shutil
import sys
from pathlib import Path

import pytest
from pages import PAGES, ROOT, Block, blocks, commands
from shell import Shell

from crisptree.pipeline import train as pipeline_train

RULES = "if pole angle > 0.01 then push right\notherwise push left\n"


@pytest.fixture(scope="module")
def trainings() -> dict:
    return {}


@pytest.fixture
def folder(tiny, tmp_path, monkeypatch) -> Path:
    """What the pages take for granted: the published policies, and an expert's rules."""
    shutil.copytree(ROOT / "policies", tmp_path / "policies")
    (tmp_path / "expert.rules").write_text(RULES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    # In processes of their own, starts would know nothing of the small recipes.
    monkeypatch.setattr(pipeline_train, "cores", lambda: 1)
    known = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - known:
        file = getattr(sys.modules[name], "__file__", None)
        if file is not None and Path(file).is_relative_to(tmp_path):
            del sys.modules[name]


def is_run(block: Block) -> bool:
    return not block.skipped and (block.is_shell or block.language in ("python", "json", "text"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_runs(page, folder, trainings):
    found = blocks(page)
    assert {block.language for block in found} <= {"", "sh", "python", "json", "text"}
    for block in found:
        if block.file is not None:
            (folder / block.file).write_text(block.code, encoding="utf-8")
    shell, names, printed = Shell(folder, trainings), {"__name__": "page"}, ""
    for block in found:
        where = f"{page.name}:{block.line}"
        if block.skipped or block.file is not None:
            continue
        if block.is_shell:
            printed = ""
            for line in commands(block.code):
                # A block without a language may hold anything; its commands are known by name.
                if block.language == "sh" or line.startswith("crisptree "):
                    printed = shell.run(line)
        elif block.language == "python":
            exec(compile(block.code, where, "exec"), names)
        elif block.language == "json":
            json.loads(block.code)
        elif block.follows and not block.note:
            missing = [line for line in block.code.splitlines() if line.strip() not in printed]
            assert not missing, f"{where}: the command prints {printed}"
