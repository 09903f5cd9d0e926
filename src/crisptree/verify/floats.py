"""The floats around a number, and numbers a person can read.

A question about observations is a question about floats: between two neighbouring floats there are
real numbers, but no observation.
"""

import math
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

MOST_DIGITS = 17


def neighbours(cut: Fraction, dtype: Any) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """The last float before `cut`, the one before or on it, the one on or after it, the next after.

    The two in the middle are one if the cut is a float of the type itself.
    """
    near = nearest(cut, dtype)
    before = near if Fraction(float(near)) <= cut else _beside(near, -np.inf)
    after = near if Fraction(float(near)) >= cut else _beside(near, np.inf)
    four = (_beside(before, -np.inf), before, after, _beside(after, np.inf))
    low, on_or_before, on_or_after, high = (Fraction(float(each)) for each in four)
    return low, on_or_before, on_or_after, high


def nearest(value: Fraction, dtype: Any) -> Any:
    """The finite float of the type nearest to a fraction."""
    if abs(value) >= largest(dtype):
        limit = np.finfo(dtype).max
        return limit if value > 0 else -limit
    # float() rounds once to float64; from there to float32 could round twice, which `neighbours`
    # makes good by looking on which side of the cut the result lies.
    return dtype(float(value))


def largest(dtype: Any) -> Fraction:
    return Fraction(float(np.finfo(dtype).max))


def _beside(value: Any, towards: float) -> Any:
    """The next finite float on that side; the outermost ones have none but themselves."""
    limit = np.finfo(type(value)).max
    with np.errstate(over="ignore", under="ignore"):
        return np.clip(np.nextafter(value, type(value)(towards)), -limit, limit)


def readable(
    observation: list[float],
    shows: Callable[[list[float]], bool],
    dtype: Any,
    deadline: float = math.inf,
) -> list[float]:
    """The observation with numbers as short as they can be while it still shows what it should,
    and while the time lasts."""
    found = list(observation)
    for feature, value in enumerate(observation):
        if value == 0 or time.monotonic() > deadline:
            continue
        for candidate in _shorter(value, dtype):
            tried = [*found[:feature], candidate, *found[feature + 1 :]]
            if shows(tried):
                found = tried
                break
    return found


def _shorter(value: float, dtype: Any) -> list[float]:
    """Zero, then the value to ever more digits, rounded, upwards and downwards."""
    found = [0.0]
    for digits in range(MOST_DIGITS):
        text = f"{value:.{digits}e}"
        unit = float(f"1e{int(text.split('e')[1]) - digits}")
        found += [float(text), float(text) + unit, float(text) - unit]
    return [float(dtype(each)) for each in found if abs(each) <= float(np.finfo(dtype).max)]
