"""How a fire front moves: the simplified FARSITE model (Finney 1998).

A front is a set of points. In one unit of time each point moves the distance C(R, U) towards the
azimuth Θ (clockwise from north), where R is the spread rate of the fuel under it and U the wind at
mid-flame height in metres a second. Only the drift of FARSITE's ellipse is kept; its growth
sideways is left out.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float


def length_to_breadth(wind: Float[Array, "*n"]) -> Float[Array, "*n"]:
    """LB(U) = 0.936 e^{0.2566 U} + 0.461 e^{-0.1548 U} - 0.397: the ellipse's shape, 1 in calm air.

    The coefficients are for U in metres a second (0.1147 and 0.0692 a mile an hour).
    """
    return 0.936 * jnp.exp(0.2566 * wind) + 0.461 * jnp.exp(-0.1548 * wind) - 0.397


def drift(wind: Float[Array, "*n"]) -> Float[Array, "*n"]:
    """C(R, U) / R = 1 - LB / (LB + √(LB² - 1)): none in calm air, a half in a gale."""
    shape = length_to_breadth(wind)
    # At U = 0, LB is 1 up to rounding, and the root must not see a negative number.
    root = jnp.sqrt(jnp.maximum(shape * shape - 1.0, 0.0))
    return root / (shape + root)


def advance(
    front: Float[Array, "2 points"],
    spread_rate: Float[Array, " points"],
    wind: Float[Array, ""],
    azimuth: Float[Array, ""],
) -> Float[Array, "2 points"]:
    """The front one unit of time later: x + C sin Θ, y + C cos Θ, with x east and y north."""
    velocity = drift(wind) * jnp.stack([jnp.sin(azimuth), jnp.cos(azimuth)])
    return front + velocity[:, None] * spread_rate
