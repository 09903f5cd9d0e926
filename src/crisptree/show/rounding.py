"""Numbers rounded for reading.

A threshold shows three significant digits, whole numbers all of theirs, and more where they are
needed to tell apart two thresholds of the same feature in this tree. A threshold that is not zero
never reads as zero, so rounding never moves one across it. `decimals` asks for a fixed number of
digits after the point instead; a feature for which these would make two thresholds look alike, or
one look like zero, keeps the significant digits.

What is shown is for reading. The tree compares with the exact value, which the policy file holds
and the drawing shows under the pointer.
"""

import math
from collections.abc import Callable, Iterable

from crisptree.crisp import CrispTree

SIGNIFICANT_DIGITS = 3
EXACT_DIGITS = 17


def rounded_thresholds(
    tree: CrispTree, decimals: int | None = None
) -> dict[tuple[int, float], str]:
    """The text of every threshold, by its feature and its exact value."""
    thresholds: dict[int, set[float]] = {}
    for feature, threshold, _, _ in tree.nodes:
        if feature >= 0:
            thresholds.setdefault(feature, set()).add(threshold)
    return {
        (feature, value): text
        for feature, values in thresholds.items()
        for value, text in _told_apart(values, decimals).items()
    }


def rounded(value: float, decimals: int | None = None) -> str:
    """A number by itself: three significant digits, or `decimals` digits after the point."""
    if decimals is not None:
        text = _without_minus_zero(f"{value:.{decimals}f}")
        if float(text) or not value:
            return text
    return significant(value, SIGNIFICANT_DIGITS)


def exact(value: float) -> str:
    """The shortest text that gives back the same float64."""
    return repr(value)


def _told_apart(values: set[float], decimals: int | None) -> dict[float, str]:
    """The shortest texts of these numbers of which no two look alike and none looks like zero."""
    ways: Iterable[Callable[[float], str]] = (
        lambda value, digits=digits: significant(value, digits)
        for digits in range(SIGNIFICANT_DIGITS, EXACT_DIGITS + 1)
    )
    if decimals is not None:
        ways = (lambda value: _without_minus_zero(f"{value:.{decimals}f}"), *ways)
    for way in ways:
        texts = {value: way(value) for value in values}
        read_back = {value: float(text) for value, text in texts.items()}
        if len(set(read_back.values())) == len(values) and all(
            (read == 0) == (value == 0) for value, read in read_back.items()
        ):
            return texts
    return {value: exact(value) for value in values}


def significant(value: float, digits: int) -> str:
    """`value` to so many significant digits, without trailing zeros; 1234.5 to three is 1234."""
    if value == 0:
        return "0"
    magnitude = math.floor(math.log10(abs(value)))
    if not -4 <= magnitude < 7:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        return f"{_without_trailing_zeros(mantissa)}e{int(exponent)}"
    return _without_trailing_zeros(f"{value:.{max(0, digits - 1 - magnitude)}f}")


def _without_trailing_zeros(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def _without_minus_zero(text: str) -> str:
    return text if float(text) else text.lstrip("-")
