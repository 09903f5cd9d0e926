"""Floats rounded to another type, without changing a decision."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def rounded_down(thresholds: NDArray) -> NDArray:
    """The largest float32 at or below each: for a float32 x it asks the same as x > threshold."""
    return not_above(thresholds, np.float32)


def not_above(values: NDArray, dtype: Any) -> NDArray:
    """The largest number of `dtype` that is not above each value; -inf below them all.

    A number of that type is above the one exactly if it is above the other.
    """
    with np.errstate(over="ignore"):
        rounded = values.astype(dtype)
    return np.where(rounded.astype(np.float64) > values, next_float(rounded, -np.inf), rounded)


def next_float(values: Any, towards: float) -> Any:
    """The next float on that side; beyond the largest comes infinity."""
    with np.errstate(over="ignore", under="ignore"):
        return np.nextafter(values, values.dtype.type(towards))
