"""The whole way in small: recipes of a few updates, and programs that are compiled quickly."""

import os
import sys
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import jax
import pytest

from crisptree.crispen import prune
from crisptree.crispen.search import Search
from crisptree.learn import session
from crisptree.learn.config import Learning
from crisptree.pipeline import recipe, way

tests = Path(__file__).parents[1]
sys.path[:0] = [str(tests / room) for room in ("crispen", "pipeline")]

LEARNING = Learning(
    n_envs=8,
    n_steps=16,
    epochs=1,
    minibatches=2,
    learning_rate=1e-2,
    leaf_rate=3.0,
    steepness=(2.0, 50.0),
)
TINY = replace(
    recipe.CARTPOLE,
    wide=4,
    attempts=1,
    starts=2,
    steps=16 * LEARNING.steps_per_update,
    rounds=2,
    search=Search(sweeps=2, rounds=(8, 16), confirm=16, width=4),
    learning=LEARNING,
    soft=replace(LEARNING, leaf_rate=1.0, steepness=None),
    soft_steps=8 * LEARNING.steps_per_update,
)


@pytest.fixture(scope="module")
def tiny(request):
    """Trainings of 16 updates, which can be resumed after every fourth."""
    with pytest.MonkeyPatch.context() as patch, quickly_compiled(request.config):
        patch.setattr(recipe, "CARTPOLE", TINY)
        patch.setattr(recipe, "HOST", replace(TINY, starts=1))
        patch.setattr(session, "RESTART", 4)
        patch.setattr(way, "COMPILED_ROUNDS", (16, 32))
        patch.setattr(way, "HOST_ROUNDS", (4, 8))
        some_states = partial(prune.visited_states, n_envs=8, n_steps=64)
        patch.setattr(way, "visited_states", some_states)
        patch.setattr(prune, "visited_states", some_states)
        # the user's own cache of programs is none of a test's business
        patch.setitem(os.environ, "JAX_COMPILATION_CACHE_DIR", "unused")
        yield TINY


@contextmanager
def quickly_compiled(config: pytest.Config):
    """Programs that are not optimised, and that the processes of a test run share."""
    jax.config.update("jax_disable_most_optimizations", True)
    cache = jax.config.jax_compilation_cache_dir
    if cache is None and getattr(config, "cache", None) is not None:
        jax.config.update("jax_compilation_cache_dir", str(config.cache.mkdir("jax")))
    yield
    jax.config.update("jax_compilation_cache_dir", cache)
    jax.config.update("jax_disable_most_optimizations", False)
