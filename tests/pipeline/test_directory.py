import json
import os
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.pipeline.directory import RunDirectory, plain

CONFIG = {"settings": {"env": "E"}}


def test_a_fresh_directory_holds_its_configuration(tmp_path):
    RunDirectory.create(tmp_path / "deep" / "run", CONFIG)
    assert json.loads((tmp_path / "deep" / "run" / "config.json").read_text()) == CONFIG
    directory, config = RunDirectory.resume(tmp_path / "deep" / "run")
    assert (directory.path, config) == (tmp_path / "deep" / "run", CONFIG)


def test_an_empty_directory_may_be_there(tmp_path):
    RunDirectory.create(tmp_path, CONFIG)
    assert os.listdir(tmp_path) == ["config.json"]


def test_nothing_is_overwritten(tmp_path):
    RunDirectory.create(tmp_path / "run", CONFIG)
    with pytest.raises(CrisptreeError, match="run exists already: --resume continues it"):
        RunDirectory.create(tmp_path / "run", {"settings": {}})
    assert RunDirectory.resume(tmp_path / "run")[1] == CONFIG
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").touch()
    with pytest.raises(CrisptreeError, match=r"mine exists already: .* another --out leaves it"):
        RunDirectory.create(tmp_path / "mine", CONFIG)
    assert os.listdir(tmp_path / "mine") == ["thesis.txt"]
    with pytest.raises(CrisptreeError, match=r"thesis\.txt exists already"):
        RunDirectory.create(tmp_path / "mine" / "thesis.txt", CONFIG)


def test_a_directory_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path / "file" / "run", tmp_path / "file" / "deep" / "run"):
        with pytest.raises(CrisptreeError, match=r"cannot write to .*run: Not a directory"):
            RunDirectory.create(path, CONFIG)
    with pytest.raises(CrisptreeError, match=r"cannot write to .*stages/a: Not a directory"):
        RunDirectory(tmp_path / "file").folder("stages/a")
    with pytest.raises(CrisptreeError, match=r"cannot write .*metrics\.jsonl: Not a directory"):
        RunDirectory(tmp_path / "file").append_metrics([{"step": 1}])


def test_there_must_be_something_to_resume(tmp_path):
    with pytest.raises(CrisptreeError, match=r"nothing to resume in .*: it has no config\.json"):
        RunDirectory.resume(tmp_path / "none")
    for content in ("[]", "{}", '{"settings": 3}'):
        (tmp_path / "config.json").write_text(content)
        with pytest.raises(CrisptreeError, match=r"its config\.json is not of a run"):
            RunDirectory.resume(tmp_path)
    (tmp_path / "config.json").write_text('{"settings": {"en')
    with pytest.raises(CrisptreeError, match=r"cannot read .*config\.json: "):
        RunDirectory.resume(tmp_path)


def test_json_is_what_was_written_or_none(tmp_path):
    directory = RunDirectory(tmp_path)
    assert directory.read_json("a.json") is None
    directory.write_json("a.json", {"b": [1, 2.5, None, "c"]})
    assert directory.read_json("a.json") == {"b": [1, 2.5, None, "c"]}
    assert directory.folder("stages/01-a").is_dir()


def lines(tmp_path: Path) -> list[dict]:
    return [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]


def test_metrics_grow_and_are_cut_to_what_a_checkpoint_knew(tmp_path):
    directory = RunDirectory(tmp_path)
    directory.cut_metrics(0)  # nothing there yet
    assert directory.append_metrics([]) == 0
    length = directory.append_metrics([{"step": 1, "return": float("nan")}, {"step": 2}])
    assert length == (tmp_path / "metrics.jsonl").stat().st_size
    assert directory.append_metrics([{"step": 3, "stage": "α"}]) > length
    assert lines(tmp_path) == [{"step": 1, "return": None}, {"step": 2}, {"step": 3, "stage": "α"}]
    directory.cut_metrics(length)
    directory.append_metrics([{"step": 3}])
    assert lines(tmp_path) == [{"step": 1, "return": None}, {"step": 2}, {"step": 3}]


def test_plain_content():
    content = {
        1: (np.float32(0.5), np.int64(3), np.bool_(True)),
        "path": Path("a/b"),
        "odd": [float("nan"), float("inf"), np.array([1.0, -np.inf]), np.float64("nan")],
        "jax": jnp.arange(2),
        "none": None,
        "deep": {"er": [{"x": "text"}]},
    }
    assert plain(content) == {
        "1": [0.5, 3, True],
        "path": "a/b",
        "odd": [None, None, [1.0, None], None],
        "jax": [0, 1],
        "none": None,
        "deep": {"er": [{"x": "text"}]},
    }
    assert json.loads(json.dumps(plain(content), allow_nan=False)) == plain(content)
