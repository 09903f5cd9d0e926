import jax.numpy as jnp
import numpy as np

from crisptree.soft.columns import beside


def test_one_value_a_row_meets_every_column():
    values = jnp.array([1.0, 10.0])
    np.testing.assert_array_equal(beside(values, values), values)
    wide = jnp.ones((2, 3))
    np.testing.assert_array_equal(beside(values, wide) * wide, [[1, 1, 1], [10, 10, 10]])
