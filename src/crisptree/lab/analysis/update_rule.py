"""What both learning rules return: the update of φ, and how much of it cancelled."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True, eq=False)
class Update:
    """Δφ at many φ, with the sum of the absolute terms it is made of, before they cancel.

    Far from every visited state all terms are exponentially small, so a tiny Δφ says nothing;
    where the *balance* vanishes, the terms cancel.
    """

    total: Float[np.ndarray, "*states P"]
    terms: Float[np.ndarray, "*states P"]

    @property
    def balance(self) -> Float[np.ndarray, "*states P"]:
        """Δφ / Σ|terms|, in [-1, 1]; NaN where every term is below what a float can hold."""
        alive = self.terms > 0
        return np.where(alive, self.total / np.where(alive, self.terms, 1.0), np.nan)


UpdateRule = Callable[[Float[np.ndarray, " P"]], Update]


PIECE = 128
"""φ's evaluated together: the working arrays of 200 states then stay in the processor's cache."""


def pieces(phi: Float[np.ndarray, " P"]) -> list[Float[np.ndarray, " K"]]:
    return [phi[i : i + PIECE] for i in range(0, max(len(phi), 1), PIECE)]


def in_pieces(rule: UpdateRule, phi: Float[np.ndarray, " P"]) -> Update:
    """`rule(phi)`, evaluated a piece at a time."""
    found = [rule(piece) for piece in pieces(phi)]
    return Update(
        np.concatenate([update.total for update in found]),
        np.concatenate([update.terms for update in found]),
    )


def without_rounding(
    difference: Float[np.ndarray, "*shape"], scale: Float[np.ndarray, "*shape"]
) -> Float[np.ndarray, "*shape"]:
    """A difference that rounding alone could have made counts as none.

    Without this, the 1e-16 left of `1 + 0.95 * 20 - 20` would outweigh the true terms far from φ
    and show as critical points that are not there.
    """
    return np.where(np.abs(difference) <= 1e-13 * scale, 0.0, difference)
