"""Tables of people × conditions: two with published results, some generated."""

import numpy as np
import pandas as pd

BUSHTUCKER = np.array(
    [
        [8, 7, 1, 6],
        [9, 5, 2, 5],
        [6, 2, 3, 8],
        [5, 3, 1, 9],
        [8, 4, 5, 8],
        [7, 5, 6, 7],
        [10, 2, 7, 2],
        [12, 6, 8, 1],
    ],
    dtype=float,
)
"""Seconds until retching, eight people and four animals (Field, Discovering Statistics). Published:
F(3, 21) = 3.79, p = .026; Mauchly W = .136, p = .047; ε = .533 (GG), .666 (HF); p = .063, .048."""

ROUNDING_TIMES = np.array(
    [
        [5.40, 5.50, 5.55],
        [5.85, 5.70, 5.75],
        [5.20, 5.60, 5.50],
        [5.55, 5.50, 5.40],
        [5.90, 5.85, 5.70],
        [5.45, 5.55, 5.60],
        [5.40, 5.40, 5.35],
        [5.45, 5.50, 5.35],
        [5.25, 5.15, 5.00],
        [5.85, 5.80, 5.70],
        [5.25, 5.20, 5.10],
        [5.65, 5.55, 5.45],
        [5.60, 5.35, 5.45],
        [5.05, 5.00, 4.95],
        [5.50, 5.50, 5.40],
        [5.45, 5.55, 5.50],
        [5.55, 5.55, 5.35],
        [5.45, 5.50, 5.55],
        [5.50, 5.45, 5.25],
        [5.65, 5.60, 5.40],
        [5.70, 5.65, 5.55],
        [6.30, 6.30, 6.25],
    ]
)
"""Three ways of rounding first base, 22 players (Hollander & Wolfe 1973, p. 140; the example of R's
friedman.test). Published there: Friedman chi-squared = 11.143, df = 2, p-value = 0.003805."""


def long(x):
    """One row a value."""
    people, conditions = np.indices(x.shape)
    return pd.DataFrame(
        {"person": people.ravel(), "policy": conditions.ravel(), "value": x.ravel()}
    )


def generated():
    """Tables of several sizes, with people and conditions that differ, ties in the last one."""
    rng = np.random.default_rng(5)
    tables = []
    for n, k in ((15, 3), (8, 2), (12, 4), (30, 5)):
        tables.append(rng.normal(size=(n, k)) + rng.normal(size=(n, 1)) + 0.4 * np.arange(k))
    return [*tables, np.clip(np.round(4 + tables[0]), 1, 7)]
