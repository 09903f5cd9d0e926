import shutil

import numpy as np
import pytest
from export_trees import grown

from crisptree.base.errors import CrisptreeError
from crisptree.export import WAYS, ExportError, check, export
from crisptree.export import ways as module

TREE = grown(32, 11)
NEEDS = {"c": "gcc", "javascript": "node"}


def skip_without(way):
    if way in NEEDS and shutil.which(NEEDS[way]) is None:
        pytest.skip(f"no {NEEDS[way]}")


@pytest.mark.parametrize("way", WAYS)
def test_a_million_states(way):
    skip_without(way)
    made = WAYS[way]
    decide = made.decider(made.made(TREE, "policy"))
    dtypes = made.dtypes
    assert sum(check(TREE, decide, each, 1_000_000 // len(dtypes)) for each in dtypes) >= 1_000_000


@pytest.mark.parametrize("way", WAYS)
def test_the_same_tree_gives_the_same_bytes(way, tmp_path):
    skip_without(way)
    first = export(TREE, way, tmp_path / "a" if way != "c" else tmp_path / "a.c", count=10)
    before = [file.read_bytes() for file in first.files]
    second = export(TREE, way, first.files[0], count=10)
    assert [file.read_bytes() for file in second.files] == before
    assert first.states == second.states > 0


@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_written_when_the_check_fails(way, tmp_path, monkeypatch):
    skip_without(way)

    def liar(made):
        return lambda states: np.full(len(states), -1)

    monkeypatch.setattr(module, "WAYS", {way: WAYS[way]._replace(decider=liar)})
    with pytest.raises(ExportError):
        export(TREE, way, tmp_path / "policy.c")
    assert list(tmp_path.iterdir()) == []


def test_unknown_way(tmp_path):
    with pytest.raises(CrisptreeError, match="no export 'java'; there are python, c, javascript"):
        export(TREE, "java", tmp_path / "x")
