"""The units of features in a soft tree: observed features are standardised, and derived features
are standardised again."""

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from numpy.typing import NDArray

from crisptree.crisp.derived import terms_of
from crisptree.crisp.signature import Feature
from crisptree.learn.moments import Moments, units


def units_of(features: Sequence[Feature], moments: Moments) -> tuple[NDArray, NDArray]:
    """Mean and deviation of every feature; a sum's as if its parts were independent."""
    mean, deviation = units(moments)
    derived = terms_of(features)
    if not derived:
        return mean, deviation
    means = [sum(weight * mean[at] for at, weight in terms) for terms in derived]
    squares = [sum((weight * deviation[at]) ** 2 for at, weight in terms) for terms in derived]
    return np.concatenate([mean, means]), np.concatenate([deviation, np.sqrt(squares)])


def sums_of(features: Sequence[Feature], moments: Moments) -> Array | None:
    """The matrix from standardised observations to standardised features; None where all are
    observed."""
    derived = terms_of(features)
    if not derived:
        return None
    _, deviation = units_of(features, moments)
    observed = len(features) - len(derived)
    matrix = np.eye(len(features), observed)
    for row, terms in enumerate(derived, observed):
        for at, weight in terms:
            matrix[row, at] = weight * deviation[at] / deviation[row]
    return jnp.asarray(matrix, jnp.float32)
