"""Checkpoints and stages that are damaged on disk: a resumed run ends as it would have ended, or
one line names the file."""

import json
import shutil
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from damage import damaged
from runs import Stopped, timeless
from runs import read as read_json
from small import small_config

from crisptree.base.errors import CrisptreeError
from crisptree.crisp.derived import derived_feature
from crisptree.envs.task import Task, task_of
from crisptree.pipeline.config_io import digest
from crisptree.pipeline.stage import Artifacts
from crisptree.pipeline.stages.derive import Derive, derived_in
from crisptree.pipeline.train import train

KIND = "resumed runs with a damaged file"
CASES = 60
CONFIG = small_config()

pytestmark = pytest.mark.faults


@pytest.fixture(scope="module")
def task() -> Task:
    return task_of("CartPole-v1")


@pytest.fixture(scope="module")
def whole(task, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "run"
    train(CONFIG, task, path)
    return path


def stopped(task: Task, path: Path, stage: str, after: int) -> Path:
    """A run that was interrupted."""
    with pytest.raises(KeyboardInterrupt):
        train(CONFIG, task, path, report=Stopped(stage, after))
    return path


@pytest.fixture(scope="module", params=[("direct", 7), ("search", 1)], ids=["learning", "search"])
def halves(request, task, tmp_path_factory) -> Path:
    """Interrupted while it learned, with a checkpoint, and past its stages."""
    return stopped(task, tmp_path_factory.mktemp("half") / "run", *request.param)


def test_damaged_derived_features(task, tmp_path, cases):
    """What is read back is what was written, or one line names the file; of every second one the
    digest is right, as somebody would make it who knows about it."""
    observed, file = task.features, tmp_path / "features.json"
    wanted = tuple(
        derived_feature(terms, observed) for terms in (((0, 1.0), (1, 0.5)), ((2, 1.0), (3, -2.0)))
    )
    Derive().save(Artifacts(derived=wanted), tmp_path)
    whole, failures = file.read_bytes(), []
    assert derived_in(tmp_path, task) == wanted
    for number in range(CASES):
        content = damaged(whole, Random(number))
        with suppress(ValueError, AttributeError, TypeError, RecursionError):
            said = json.loads(content)
            said["digest"] = digest({key: said[key] for key in said if key != "digest"})
            content = content if number % 2 else json.dumps(said).encode()
        file.write_bytes(content)
        try:
            derived_in(tmp_path, task)
        except CrisptreeError as error:
            if file.name not in str(error) or "\n" in str(error):
                failures.append((number, str(error)))
        except Exception as error:
            failures.append((number, repr(error)))
    cases(CASES, failures)


def test_a_damaged_file(halves, whole, task, tmp_path, cases):
    files = [path for path in sorted(halves.rglob("*")) if path.is_file() and path.name != ".lock"]
    failures = []
    for number in range(CASES):
        rng, here = Random(number), tmp_path / str(number)
        shutil.copytree(halves, here)
        hit = here / files[number % len(files)].relative_to(halves)
        hit.write_bytes(damaged(hit.read_bytes(), rng))
        try:
            train(CONFIG, task, here, resume=True)
        except CrisptreeError as error:
            if "\n" in str(error) or len(str(error)) > 2000:
                failures.append((number, str(hit), str(error)[:300]))
        except Exception as error:
            failures.append((number, str(hit), repr(error)))
        else:
            same = timeless(read_json(here / "summary.json")) == timeless(
                read_json(whole / "summary.json")
            )
            # What the file says of the configuration or of finished stages is believed.
            if not same and hit.suffix in (".eqx",):
                failures.append((number, str(hit), "it ended differently"))
        shutil.rmtree(here)
    cases(CASES, failures)
