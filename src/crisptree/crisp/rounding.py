"""Thresholds in float32, what observations are, without changing a decision."""

import numpy as np


def rounded_down(thresholds: np.ndarray) -> np.ndarray:
    """The largest float32 at or below each: for a float32 x it asks the same as x > threshold."""
    with np.errstate(over="ignore"):
        nearest = thresholds.astype(np.float32)
        return np.where(nearest > thresholds, np.nextafter(nearest, np.float32(-np.inf)), nearest)
