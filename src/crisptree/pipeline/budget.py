"""From minutes to steps: how fast this machine learns this task is measured, briefly."""

import time

import jax

from crisptree import soft
from crisptree.envs.spaces import describe
from crisptree.learn.agent import create
from crisptree.learn.session import segment_for
from crisptree.learn.stacks import stack
from crisptree.pipeline.recipe import ladder, recipe_for
from crisptree.pipeline.settings import Settings

SPARE = 0.6
"""Share of the time that goes to learning; the rest is compiling, pruning races and scoring."""
TIMED_UPDATES = 4


def steps_within(settings: Settings) -> int:
    """Steps of the main training, so that the whole way takes about the budget."""
    assert settings.budget is not None
    recipe, task = recipe_for(settings.env), describe(settings.env)
    sizes = (task.n_features, task.n_actions)
    actor = soft.AxisTree.random(soft.balanced(recipe.wide), *sizes, key=jax.random.key(0))
    config = recipe.learning
    agents = stack([create(actor, task.n_features, config, 100, key=jax.random.key(0))])
    segment = segment_for(settings.env, config, 1, 0, TIMED_UPDATES)
    agents, _ = segment(agents, 1)
    began = time.monotonic()
    segment(agents, TIMED_UPDATES)
    rate = TIMED_UPDATES * config.steps_per_update / (time.monotonic() - began)
    taught = settings.teacher is not None
    wide = recipe.distilled(settings.size, settings.shape) if taught else recipe.wide
    rungs = ladder(wide, settings.size, recipe.race_below)
    tries = sum(recipe.tries_at(size, settings.size, taught) for size in rungs)
    shares = recipe.starts + tries * recipe.refine_share + recipe.polish_share
    if taught:
        shares += recipe.teacher_share + recipe.mend_share - recipe.starts
    if settings.paper or settings.mlp is not None:
        shares = 1.0
    steps = rate * settings.budget * 60 * SPARE / shares / max(1, settings.seeds)
    return max(config.steps_per_update, int(steps))
