"""The soft models in NumPy, for acting on a few rows at a time.

There a compiled call costs several times the arithmetic: its threads have to be woken on cores that
are busy with the environments.
"""

from collections.abc import Callable

import jax
import numpy as np
from jaxtyping import Float

from crisptree.soft.axis_tree import AxisTree
from crisptree.soft.mlp import MLP
from crisptree.soft.model import TreeModel
from crisptree.soft.paths import NEVER
from crisptree.soft.tree import SoftTree

Rows = Float[np.ndarray, "S N _"]
NumpyModel = Callable[[Rows], Rows]
"""From standardised observations (S, N, F) of S seeds to mixed outputs (S, N, O)."""


def numpy_mix(models: SoftTree | AxisTree | MLP, of_leaf: Callable) -> NumpyModel:
    """What `mix(x, of_leaf)` gives, for S stacked models."""
    models = jax.tree.map(np.asarray, models)
    if isinstance(models, MLP):
        return lambda x: of_leaf(_perceptron(models, x))
    return _tree(models, of_leaf)


def _perceptron(models: MLP, x: Rows) -> Rows:
    last = len(models.weights) - 1
    for i, (weight, bias) in enumerate(zip(models.weights, models.biases, strict=True)):
        x = x @ np.asarray(weight).swapaxes(-1, -2) + np.asarray(bias)[:, None]
        if i < last:
            x = np.maximum(x, 0) if models.activation == "relu" else np.tanh(x)
    return x


def _tree(trees: TreeModel, of_leaf: Callable) -> NumpyModel:
    assert isinstance(trees, SoftTree | AxisTree)
    paths = trees.routing()
    goes_true, goes_false = (
        np.asarray(part).swapaxes(-1, -2).astype(np.float32)
        for part in (paths.goes_true, paths.goes_false)
    )
    unused = np.where(paths.in_use, np.float32(0), np.float32(NEVER))[..., None, :]
    leaves = of_leaf(trees.leaves)
    comparators = np.asarray(trees.comparators)[:, None]
    steepness = np.asarray(trees.steepness).reshape(len(leaves), 1, -1)
    gains = None
    if trees.gains is not None and trees.kept_gains is not None:
        gains = np.asarray(trees.gains * trees.kept_gains)

    def values(x: Rows) -> Rows:
        """What each node compares."""
        if isinstance(trees, SoftTree):
            return x @ np.asarray(trees.weights).swapaxes(-1, -2)
        if trees.sums is not None:
            x = x @ np.asarray(trees.sums).swapaxes(-1, -2)
        features = np.asarray(trees.features)
        if len(x) == 1:  # a fifth of the time
            return x[:, :, features[0]]
        return np.take_along_axis(x, features[:, None], -1)

    def mix(x: Rows) -> Rows:
        margins = steepness * (values(x) - comparators)
        log_true = np.minimum(margins, 0) - np.log(1 + np.exp(-np.abs(margins)))
        sums = log_true @ goes_true + (log_true - margins) @ goes_false
        probabilities = np.exp(sums + unused)
        mixed = probabilities @ leaves
        if gains is None:
            return mixed
        by_leaf = np.einsum("slof,snf->snlo", gains, x, optimize=True)
        return mixed + (by_leaf * probabilities[..., None]).sum(2)

    return mix
