"""Seeds as the first axis of all arrays: putting them together, and taking them apart.

It is NumPy's work: JAX would compile a program for every shape.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import equinox as eqx
import jax
import numpy as np

from crisptree.learn.agent import Learner

Kind = TypeVar("Kind", bound=Learner)
Stacked = TypeVar("Stacked")


def stack(models: Sequence[Stacked]) -> Stacked:
    """Several agents, or parts of them, as one with a first axis."""
    return _changed(lambda *leaves: np.stack(leaves), *models)


def first(counts: Any) -> int:
    """That of the first seed; all seeds keep step."""
    return int(np.asarray(counts)[0])


def pick(agents: Stacked, seed: int) -> Stacked:
    """One seed of several, of agents or parts of them."""
    return _changed(lambda leaf: leaf[seed], agents)


def apart(agents: Stacked) -> list[Stacked]:
    """Each seed as a stack of one."""
    n = len(jax.tree.leaves(eqx.filter(agents, eqx.is_array))[0])
    if n == 1:
        return [agents]
    return [_changed(lambda leaf, i=i: leaf[i : i + 1], agents) for i in range(n)]


def together(agents: Sequence[Stacked]) -> Stacked:
    """Stacks as one stack."""
    if len(agents) == 1:
        return agents[0]
    return _changed(lambda *leaves: np.concatenate(leaves), *agents)


def _changed(change: Callable[..., np.ndarray], *agents: Stacked) -> Stacked:
    """`change` of every array, in NumPy; keys are changed as the numbers they are made of."""

    def of_leaves(*leaves: Any) -> Any:
        if not eqx.is_array(leaves[0]):
            return leaves[0]
        if jax.dtypes.issubdtype(leaves[0].dtype, jax.dtypes.prng_key):
            numbers = change(*(np.asarray(jax.random.key_data(leaf)) for leaf in leaves))
            impl = jax.random.key_impl(leaves[0])
            return jax.random.wrap_key_data(jax.device_put(numbers), impl=impl)
        return jax.device_put(change(*(np.asarray(leaf) for leaf in leaves)))

    return jax.tree.map(of_leaves, *agents)
