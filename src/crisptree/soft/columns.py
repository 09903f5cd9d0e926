"""One observation, or many side by side as columns: features come first in either.

With features first, what a layer or a row of nodes gives lies as the next product wants it; under
`vmap` over seeds that takes half of the time of `vmap` over single observations.
"""

from jaxtyping import Array, Float


def beside(values: Float[Array, " n"], x: Float[Array, "n *rows"]) -> Float[Array, "n *_"]:
    """One value a row of `x`, shaped so that it meets every column."""
    return values.reshape(-1, *(1,) * (x.ndim - 1))
