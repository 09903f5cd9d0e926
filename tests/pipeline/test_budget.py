"""`--budget` holds on slow environments, compiling and scoring included."""

import time
from functools import partial

import pytest
import slow_env

import crisptree

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("busy", [False, True], ids=["waits", "computes"])
@pytest.mark.parametrize("ms", [20, 50])
def test_a_scored_tree_in_time(ms, busy, tmp_path):
    began = time.monotonic()
    trained = crisptree.train(
        partial(slow_env.make, ms=ms, busy=busy), budget=2, out=tmp_path / "run", progress=False
    )
    assert time.monotonic() - began < 60 * 2.2
    assert trained.tree is not None and trained.summary["episodes"] >= 1
