"""Running mean and variance, for standardising what a learner sees."""

import equinox as eqx
import jax.numpy as jnp
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
        return Moments(jnp.zeros(shape), jnp.ones(shape), jnp.asarray(1e-4))

    @property
    def deviation(self) -> Float[Array, "*shape"]:
        return jnp.sqrt(self.variance + SMALLEST_VARIANCE)

    def with_batch(
        self, batch: Float[Array, "rows *shape"], mask: Bool[Array, " rows"]
    ) -> "Moments":
        """The moments after the rows of `batch` for which `mask` holds."""
        weight = mask.astype(batch.dtype).reshape(-1, *(1,) * (batch.ndim - 1))
        n = jnp.maximum(weight.sum(), 1.0)
        mean = (batch * weight).sum(0) / n
        variance = (jnp.square(batch - mean) * weight).sum(0) / n
        total = self.count + n
        delta = mean - self.mean
        return Moments(
            mean=self.mean + delta * n / total,
            variance=(self.variance * self.count + variance * n) / total
            + jnp.square(delta) * self.count * n / total**2,
            count=total,
        )

    def standardise(self, x: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
        return jnp.clip((x - self.mean) / self.deviation, -CLIP, CLIP)
