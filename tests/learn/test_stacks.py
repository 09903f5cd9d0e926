import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from trajectories import to_bytes

from crisptree.learn import ppo
from crisptree.learn.config import PPOConfig
from crisptree.learn.stacks import n_seeds, pick, stack
from crisptree.soft import SoftTree, balanced


def state(seed: int):
    tree = SoftTree.random(balanced(3), 4, 2, key=jax.random.key(seed))
    return ppo.init(tree, 4, PPOConfig(), 9, key=jax.random.key(seed + 10))


def test_there_and_back():
    alone = [state(seed) for seed in range(3)]
    together = stack(alone)
    assert n_seeds(together) == 3
    for seed, one in enumerate(alone):
        again = pick(together, seed)
        assert jax.tree.structure(again) == jax.tree.structure(one)
        assert to_bytes(again) == to_bytes(one)
    assert together.actor.topology == balanced(3)
    assert jnp.issubdtype(together.key.dtype, jax.dtypes.prng_key)


def test_keys_draw_as_before():
    keys = stack([jax.random.key(1), jax.random.key(2)])
    np.testing.assert_array_equal(jax.random.bits(keys[1]), jax.random.bits(jax.random.key(2)))


def test_what_is_no_array_stays():
    parts = stack([(jnp.zeros(2), "text", None)] * 2)
    assert parts[1:] == ("text", None)
    assert eqx.is_array(parts[0])
    assert parts[0].shape == (2, 2)
