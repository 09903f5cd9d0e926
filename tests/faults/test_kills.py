"""Trainings that are killed at random times: no child is left, and what is resumed ends with the
same bytes."""

import shutil
import signal
import time
from pathlib import Path
from random import Random

import pytest
from processes import Started, run, training
from runs import read, timeless

KIND = "trainings killed at a random time and resumed"
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
STARTS = {
    "one start": [],
    "two starts": ["--candidates.count", "2", "--candidates.workers", "2"],
}
KILLS = 6

pytestmark = pytest.mark.faults


@pytest.fixture(scope="module", params=STARTS)
def whole(request, tmp_path_factory) -> tuple[Path, list[str], float]:
    """A run that nobody stops, its options, and how long it takes once programs are compiled."""
    folder, options = tmp_path_factory.mktemp("whole"), STARTS[request.param]
    for name in ("first", "whole"):
        began = time.monotonic()
        done = run(training("--out", name, *options), folder)
        assert done.returncode == 0, done.stderr[-2000:]
    return folder / "whole", options, time.monotonic() - began


@pytest.mark.parametrize("number", range(KILLS))
def test_killed_and_resumed(whole, number, tmp_path):
    path, options, seconds = whole
    rng = Random(f"{number} {options}")
    how = SIGNALS[number % len(SIGNALS)]
    started = Started(training("--out", "run", *options), tmp_path)
    time.sleep(rng.uniform(0.1, 0.9) * seconds)
    started.process.send_signal(how)
    _, said = started.process.communicate(timeout=600)
    assert started.left() == []
    assert "Traceback" not in said or (how == signal.SIGINT and "<frozen" in said), said
    begun = (tmp_path / "run" / "config.json").exists()
    if not begun:
        shutil.rmtree(tmp_path / "run", ignore_errors=True)
    done = run(training("--out", "run", *options, *(["--resume"] if begun else [])), tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    assert (tmp_path / "run" / "policy.json").read_bytes() == (path / "policy.json").read_bytes()
    mine, theirs = (timeless(read(at / "summary.json")) for at in (tmp_path / "run", path))
    assert mine == theirs


def test_a_second_writer_is_refused(whole, tmp_path):
    path, options, _ = whole
    first = Started(training("--out", "run", *options), tmp_path)
    while not (tmp_path / "run" / "config.json").exists():
        assert first.process.poll() is None
        time.sleep(0.05)
    second = run(training("--out", "run", "--resume", *options), tmp_path)
    first.process.communicate(timeout=900)
    assert first.process.returncode == 0
    refused = "is being written by process" in second.stderr
    assert refused or second.returncode == 0  # the first may have been done within its patience
    assert (tmp_path / "run" / "policy.json").read_bytes() == (path / "policy.json").read_bytes()
