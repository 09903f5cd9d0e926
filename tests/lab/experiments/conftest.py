"""Runs in small: recipes of a few updates, and programs that are compiled quickly."""

import os
import sys
from dataclasses import replace
from pathlib import Path

import jax
import pytest

from crisptree.crispen.search import Search
from crisptree.learn.config import Learning
from crisptree.pipeline import recipe, way

sys.path.insert(0, str(Path(__file__).parent))

LEARNING = Learning(
    n_envs=8, n_steps=16, epochs=1, minibatches=2, leaf_rate=3.0, steepness=(2.0, 50.0)
)
TINY = replace(
    recipe.CARTPOLE,
    wide=4,
    attempts=1,
    starts=2,
    steps=4 * LEARNING.steps_per_update,
    rounds=2,
    search=Search(sweeps=2, rounds=(8, 16), confirm=16, width=4),
    learning=LEARNING,
    soft=replace(LEARNING, leaf_rate=1.0, steepness=None),
    soft_steps=4 * LEARNING.steps_per_update,
)


@pytest.fixture(scope="module")
def tiny():
    """Trainings of four updates on CartPole."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recipe, "CARTPOLE", TINY)
        patch.setattr(way, "COMPILED_ROUNDS", (16, 32))
        # the user's own cache of programs is none of a test's business
        patch.setitem(os.environ, "JAX_COMPILATION_CACHE_DIR", "unused")
        jax.config.update("jax_disable_most_optimizations", True)
        yield TINY
        jax.config.update("jax_disable_most_optimizations", False)
