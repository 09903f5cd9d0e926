"""Seeds as the first axis of a learner's state.

Stacking and picking is NumPy's work: JAX would compile a program for every shape.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import equinox as eqx
import jax
import numpy as np

State = TypeVar("State")


def stack(states: Sequence[State]) -> State:
    """Several states, or parts of them, as one with a first axis."""
    return _map(lambda *leaves: np.stack(leaves), *states)


def pick(states: State, index: int) -> State:
    """One seed of several, of states or of parts of them."""
    return _map(lambda leaf: leaf[index], states)


def n_seeds(states: Any) -> int:
    """The length of the first axis."""
    return len(jax.tree.leaves(eqx.filter(states, eqx.is_array))[0])


def _map(function: Callable[..., np.ndarray], *states: State) -> State:
    """`function` of every array, in NumPy; keys as the numbers they are made of."""

    def of_leaves(*leaves: Any) -> Any:
        if not eqx.is_array(leaves[0]):
            return leaves[0]
        if jax.dtypes.issubdtype(leaves[0].dtype, jax.dtypes.prng_key):
            numbers = function(*(np.asarray(jax.random.key_data(leaf)) for leaf in leaves))
            impl = jax.random.key_impl(leaves[0])
            return jax.random.wrap_key_data(jax.device_put(numbers), impl=impl)
        return jax.device_put(function(*(np.asarray(leaf) for leaf in leaves)))

    return jax.tree.map(of_leaves, *states)
