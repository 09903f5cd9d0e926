"""Every code block of the documentation runs, page by page, each page in a folder of its own.

`pages.py` says what a comment before a block means, `shell.py` how commands are run, `quick.py`
what stands in for trainings; the slow test makes do without it.
"""

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pages import PAGES, ROOT, blocks, commands
from quick import quick_train
from shell import Shell
from small import small_config

import crisptree.api
import crisptree.explain.recorder
import crisptree.lab.study.train_mlp
from crisptree.envs.task import task_of
from crisptree.pipeline import train as pipeline_train

RULES = "if pole angle > 0.01 then push right\notherwise push left\n"

every_page = pytest.mark.parametrize(
    "page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES]
)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Iterator[Path]:
    """What the pages take for granted: the published policies, and an expert's rules."""
    shutil.copytree(ROOT / "policies", tmp_path / "policies")
    (tmp_path / "expert.rules").write_text(RULES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys.modules["crisptree.explain.recorder"], "MOST_STEPS", 40)
    known = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - known:
        file = getattr(sys.modules[name], "__file__", None)
        if file is not None and Path(file).is_relative_to(tmp_path):
            del sys.modules[name]


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "template"
    pipeline_train.train(small_config(), task_of("CartPole-v1"), out)
    return out


@pytest.fixture
def quick(trained, monkeypatch) -> None:
    monkeypatch.setattr(pipeline_train, "train", quick_train(trained))
    monkeypatch.setattr(crisptree.api, "train_config", quick_train(trained))
    anything = lambda score, size, search, rng: np.asarray(rng.standard_normal(size))
    monkeypatch.setattr(sys.modules["crisptree.lab.study.train_mlp"], "cross_entropy", anything)


def run_page(page: Path, shell: Shell) -> None:
    found, folder = blocks(page), shell.folder
    assert {block.language for block in found} <= {"", "sh", "python", "json", "text"}
    for block in found:
        if block.file is not None:
            (folder / block.file).write_text(block.code, encoding="utf-8")
    names, printed = {"__name__": "page"}, ""
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
            # As for a script in this folder, or in an interactive session.
            with pytest.MonkeyPatch.context() as patch:
                patch.syspath_prepend(folder)
                exec(compile(block.code, where, "exec"), names)
        elif block.language == "json":
            json.loads(block.code)
        elif block.follows and not block.note:
            missing = [line for line in block.code.splitlines() if line.strip() not in printed]
            assert not missing, f"{where}: the command prints {printed}"


@every_page
def test_every_block_runs(page, folder, quick):
    run_page(page, Shell(folder, left_out=("--learn",)))


@pytest.mark.slow
@every_page
def test_every_block_runs_with_real_trainings(page, folder):
    run_page(page, Shell(folder))
