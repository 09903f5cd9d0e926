"""Features that follow from others: a weighted sum of a few numbers of an observation.

`Feature.terms` says how. A sum is `weight · x[feature] + …`, added in the order of the terms, each
product and each sum rounded to float64; exports compute the same, in the same order.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp.signature import Feature, Terms

MINUS = "−"


def terms_of(features: Sequence[Feature]) -> tuple[Terms, ...]:
    """The terms of the derived features, which stand behind all others."""
    return tuple(feature.terms for feature in features if feature.terms)


def n_observed(features: Sequence[Feature]) -> int:
    """How many features are numbers of the observation itself."""
    return sum(not feature.terms for feature in features)


def with_sums(values: list[float], derived: Sequence[Terms]) -> list[float]:
    """One observation's numbers, and the derived ones behind them."""
    found = list(values)
    for (feature, weight), *others in derived:
        value = weight * values[feature]
        for feature, weight in others:
            value += weight * values[feature]
        found.append(value)
    return found


def with_columns(rows: NDArray, derived: Sequence[Terms]) -> NDArray:
    """`with_sums` for one observation `(F,)` or many `(B, F)`, in float64 where there are any."""
    if not derived:
        return rows
    numbers = rows.astype(np.float64)
    sums = []
    with np.errstate(over="ignore", invalid="ignore"):
        for (feature, weight), *others in derived:
            value = weight * numbers[..., feature]
            for feature, weight in others:
                value = value + weight * numbers[..., feature]
            sums.append(value)
    return np.concatenate([numbers, np.stack(sums, -1)], -1)


def in_common(signatures: Sequence[Sequence[Feature]]) -> tuple[tuple[Terms, ...], list[NDArray]]:
    """The distinct sums of several trees' features, and for each tree the column of each of its
    features among the observed numbers and these sums. Only trees with the same observed features
    share columns."""
    every = tuple(dict.fromkeys(terms for each in signatures for terms in terms_of(each)))
    columns = []
    for features in signatures:
        observed = n_observed(features)
        sums = [observed + every.index(terms) for terms in terms_of(features)]
        columns.append(np.array([*range(observed), *sums]))
    return every, columns


def derived_feature(terms: Terms, observed: Sequence[Feature]) -> Feature:
    """The weighted sum as a feature, named as a person would write it: `height + 0.5·speed`."""
    return Feature(readable(terms, [feature.name for feature in observed]), terms=terms)


def readable(terms: Terms, names: Sequence[str]) -> str:
    """The sum in words, as a person would write it."""
    text = ""
    for feature, weight in terms:
        size = "" if abs(weight) == 1 else f"{abs(weight):g}·"
        sign = (MINUS if weight < 0 else "") if not text else f" {MINUS if weight < 0 else '+'} "
        text += f"{sign}{size}{names[feature]}"
    return text
