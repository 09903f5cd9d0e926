"""Episodes of functional environments: what a step takes and what it returns."""

import jax
import jax.numpy as jnp
import pytest

from crisptree.envs.registry import twin_of
from crisptree.envs.seeded_episodes import advance, begin
from crisptree.envs.source import source_of
from crisptree.envs.task import task_of


def _types(tree):
    return [(leaf.shape, leaf.dtype, leaf.weak_type) for leaf in jax.tree.leaves(tree)]


@pytest.mark.parametrize(
    "env_id", ["CartPole-v1", "crisptree/Wildfire-v0", "crisptree/Zerglings-v0"]
)
def test_a_step_returns_the_types_that_an_episode_begins_with_so_it_is_compiled_once(env_id):
    twin = twin_of(task_of(source_of(env_id)))
    assert twin is not None
    first, _ = jax.eval_shape(lambda key: begin(twin, key), jax.random.key(0))
    agents = () if twin.n_agents == 1 else (twin.n_agents,)
    action = jax.ShapeDtypeStruct(agents, jnp.int32)
    second, _ = jax.eval_shape(lambda state, chosen: advance(twin, state, chosen), first, action)
    assert _types(first) == _types(second)
