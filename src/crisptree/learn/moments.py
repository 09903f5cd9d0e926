"""Running mean and variance, for standardising what a learner sees."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

CLIP = 10.0
SMALLEST_VARIANCE = 1e-8


class Moments(eqx.Module):
    """Mean and variance of all that was seen so far (Chan's parallel update)."""

    mean: Float[Array, "*shape"]
    variance: Float[Array, "*shape"]
    count: Float[Array, ""]

    @staticmethod
    def empty(shape: tuple[int, ...]) -> "Moments":
        """Nothing seen yet: standardising changes nothing."""
        return Moments(jnp.zeros(shape), jnp.ones(shape), jnp.zeros(()))

    @property
    def deviation(self) -> Float[Array, "*shape"]:
        return jnp.sqrt(self.variance + SMALLEST_VARIANCE)

    def with_batch(
        self, batch: Float[Array, "rows *shape"], mask: Bool[Array, " rows"]
    ) -> "Moments":
        """The moments after the rows of `batch` for which `mask` holds."""
        kept = mask.reshape(-1, *(1,) * (batch.ndim - 1))
        n = mask.sum().astype(batch.dtype)
        rows = jnp.maximum(n, 1.0)
        mean = jnp.where(kept, batch, 0.0).sum(0) / rows
        variance = jnp.where(kept, jnp.square(batch - mean), 0.0).sum(0) / rows
        total = self.count + n
        share = n / jnp.maximum(total, 1.0)
        delta = mean - self.mean
        return Moments(
            mean=self.mean + delta * share,
            variance=self.variance * (1 - share)
            + variance * share
            + jnp.square(delta) * share * (1 - share),
            count=total,
        )

    def standardize(self, x: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
        """In deviations from the mean, clipped; where nothing was seen, x as it is."""
        standard = jnp.clip((x - self.mean) / self.deviation, -CLIP, CLIP)
        return jnp.where(self.count > 0, standard, x)


def units(moments: Moments) -> tuple[np.ndarray, np.ndarray]:
    """Mean and deviation in NumPy; 0 and 1 where nothing was seen and nothing is standardised."""
    mean, variance = np.asarray(moments.mean), np.asarray(moments.variance)
    if float(np.asarray(moments.count)) == 0:
        return np.zeros_like(mean), np.ones_like(variance)
    return mean, np.sqrt(variance + variance.dtype.type(SMALLEST_VARIANCE))
