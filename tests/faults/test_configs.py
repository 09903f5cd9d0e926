"""Damaged configurations, of users and of runs: read, or refused in one line."""

import shutil
from pathlib import Path
from random import Random

import pytest
from command_line import command, fault
from corpora import configs
from damage import damaged
from small import small_config

from crisptree.base.errors import CrisptreeError
from crisptree.envs.task import Task, task_of
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.config_io import config_hash, load
from crisptree.pipeline.resolve import resolve
from crisptree.pipeline.timing import Measurement
from crisptree.pipeline.train import train

KIND = "damaged configurations"
CONFIGS = configs()
FILES = 600
RUNS = 150

pytestmark = pytest.mark.faults


@pytest.fixture(scope="module")
def task() -> Task:
    return task_of("CartPole-v1")


def test_a_users_file(cases, tmp_path, task):
    """Read as `--config FILE` reads it, and all that is left open filled in."""
    path, failures = tmp_path / "config.json", []
    for content in CONFIGS:
        path.write_bytes(content)
        load(path)
    for number in range(FILES):
        rng = Random(number)
        path.write_bytes(damaged(rng.choice(CONFIGS), rng))
        try:
            config = load(path)
            config_hash(config)
            assert isinstance(resolve(config, task, Measurement(1e4, 30.0)), TrainConfig)
        except CrisptreeError as error:
            if "\n" in str(error):
                failures.append((number, str(error)))
        except Exception as error:
            failures.append((number, repr(error)))
    cases(FILES, failures)


@pytest.fixture(scope="module")
def finished(tmp_path_factory, task) -> Path:
    """A run that is done, so that --resume has nothing to do but read."""
    path = tmp_path_factory.mktemp("finished") / "run"
    train(small_config(), task, path)
    return path


@pytest.mark.parametrize("name", ["config.json", "summary.json", "policy.json"])
def test_a_file_of_a_run(cases, tmp_path, finished, name, monkeypatch):
    """`crisptree train --resume` on a stranger's run: nothing that a file names is imported."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evilmod.py").write_text("open('imported', 'w').close()")
    shutil.copytree(finished, tmp_path / "run")
    whole, failures = (finished / name).read_bytes(), []
    for number in range(RUNS // 3):
        (tmp_path / "run" / name).write_bytes(damaged(whole, Random(number)))
        said = command("train", "CartPole-v1", "--out", "run", "--resume", "--json")
        if why := fault(said):
            failures.append((number, why))
    assert not (tmp_path / "imported").exists()
    cases(RUNS // 3, failures)
