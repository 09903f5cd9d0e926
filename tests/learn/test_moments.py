import equinox as eqx
import jax.numpy as jnp
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crisptree.learn.moments import CLIP, Moments, units


@settings(max_examples=30)
@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.sampled_from([1, 5, 64]), min_size=1, max_size=6),
    st.sampled_from([0.0, 10.0, -1000.0]),
)
def test_all_batches_together_as_numpy_would(seed, sizes, middle):
    """Rows that are masked count for nothing, whatever is in them."""
    random = np.random.default_rng(seed)
    moments, kept = Moments.empty((3,)), []
    for size in sizes:
        batch = random.normal(middle, [0.5, 1, 20], (size, 3)).astype(np.float32)
        mask = random.uniform(size=size) < 0.7
        kept.append(batch[mask])
        batch[~mask] = random.choice([np.inf, np.nan, 1e30])
        moments = moments.with_batch(jnp.asarray(batch), jnp.asarray(mask))
    rows = np.concatenate(kept).astype(np.float64)
    assert float(moments.count) == len(rows)
    if len(rows):
        np.testing.assert_allclose(moments.mean, rows.mean(0), rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(moments.variance, rows.var(0), rtol=1e-3, atol=1e-5)


def test_numbers_without_a_shape():
    moments = Moments.empty(()).with_batch(jnp.array([1.0, 2.0, 6.0, 100.0]), jnp.arange(4) < 3)
    np.testing.assert_allclose([moments.mean, moments.variance], [3, 14 / 3], rtol=1e-6)


def test_a_batch_without_rows_changes_nothing():
    nothing = jnp.zeros(2, bool)
    fresh = Moments.empty((3,))
    assert bool(eqx.tree_equal(fresh.with_batch(jnp.ones((2, 3)), nothing), fresh))
    some = fresh.with_batch(jnp.arange(6.0).reshape(2, 3), ~nothing)
    assert bool(eqx.tree_equal(some.with_batch(jnp.ones((2, 3)), nothing), some))


def test_standardised_rows_have_mean_zero_and_deviation_one():
    rows = np.random.default_rng(0).normal([5, -300], [0.1, 40], (1000, 2)).astype(np.float32)
    moments = Moments.empty((2,)).with_batch(jnp.asarray(rows), jnp.ones(1000, bool))
    standard = np.asarray(moments.standardize(jnp.asarray(rows)))
    np.testing.assert_allclose(standard.mean(0), 0, atol=1e-3)
    np.testing.assert_allclose(standard.std(0), 1, rtol=1e-4)


def test_where_nothing_was_seen_nothing_is_changed():
    """Not even the far: a learner without standardisation sees what the crisp tree will see."""
    x = jnp.array([-1e9, -2.5, 0.0, 2.5, 1e9])
    assert Moments.empty((5,)).standardize(x).tobytes() == x.tobytes()


def test_the_far_is_clipped():
    x = jnp.array([-1e9, -2.5, 0.0, 2.5, 1e9])
    seen = Moments(jnp.zeros(5), jnp.ones(5), jnp.ones(()))
    expected = [-CLIP, -2.5, 0.0, 2.5, CLIP]
    np.testing.assert_allclose(seen.standardize(x), expected, rtol=1e-6)


def test_a_feature_that_never_moves_does_not_divide_by_zero():
    moments = Moments.empty((1,)).with_batch(jnp.full((8, 1), 3.0), jnp.ones(8, bool))
    assert moments.standardize(jnp.array([3.0])).tolist() == [0.0]
    assert moments.standardize(jnp.array([4.0])).tolist() == [CLIP]


def test_units_in_numpy_are_those_that_standardise():
    seen = Moments(jnp.array([1.0, -2.0]), jnp.array([4.0, 1e-6]), jnp.ones(()))
    mean, deviation = units(seen)
    x = np.array([2.5, -2.001], np.float32)
    np.testing.assert_allclose((x - mean) / deviation, seen.standardize(jnp.asarray(x)), rtol=1e-5)
    mean, deviation = units(Moments.empty((2,)))
    assert mean.tolist() == [0, 0] and deviation.tolist() == [1, 1]
