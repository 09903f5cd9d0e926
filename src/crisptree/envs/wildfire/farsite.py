"""How a fire front moves: the simplified FARSITE model (Finney 1998). No JAX here.

A front is a set of points. In one unit of time each point moves the distance C(R, U) towards the
azimuth Θ (clockwise from north), where R is the spread rate of the fuel under it and U the wind at
mid-flame height in metres a second. Only the drift of FARSITE's ellipse is kept; its growth
sideways is left out.
"""

from statistics import NormalDist

import numpy as np
from jaxtyping import Float


def length_to_breadth(wind: Float[np.ndarray, "*n"]) -> Float[np.ndarray, "*n"]:
    """LB(U) = 0.936 e^{0.2566 U} + 0.461 e^{-0.1548 U} - 0.397: the ellipse's shape, 1 in calm air.

    The coefficients are for U in metres a second (0.1147 and 0.0692 a mile an hour).
    """
    return 0.936 * np.exp(0.2566 * wind) + 0.461 * np.exp(-0.1548 * wind) - 0.397


def drift(wind: Float[np.ndarray, "*n"]) -> Float[np.ndarray, "*n"]:
    """C(R, U) / R = 1 - LB / (LB + √(LB² - 1)): none in calm air, near a half in a gale."""
    shape = length_to_breadth(wind)
    # At U = 0, LB is 1 up to rounding, and the root must not see a negative number.
    root = np.sqrt(np.maximum(shape * shape - 1.0, 0.0))
    return root / (shape + root)


def normal_quantiles(n: int) -> Float[np.ndarray, " n"]:
    """The middles of `n` equally likely parts of the standard normal distribution."""
    quantile = NormalDist().inv_cdf
    return np.array([quantile((k + 0.5) / n) for k in range(n)])
