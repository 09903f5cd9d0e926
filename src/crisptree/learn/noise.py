"""Noise that explores: random numbers that a head turns into actions, one for each step.

Real actions get coloured noise: white noise averages out within a few steps, so that whatever must
be pushed the same way for a while is never reached. Noise of a spectrum 1/f^β has all time scales
(Eberhard et al. 2023 for off-policy learning, Hollenstein et al. 2024 for PPO).
"""

import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from crisptree.learn.heads import Gaussian, Head
from crisptree.learn.trajectory import Number


def exploration_noise(
    head: Head, key: Key[Array, ""], n_steps: int, n_rows: int, color: Number
) -> Float[Array, "T R K"]:
    """What `head.sample` needs for `n_steps` steps of `n_rows` rows."""
    white = head.noise(key, (n_steps, n_rows))
    return colored(white, color) if isinstance(head, Gaussian) else white


def colored(white: Float[Array, "T *rest"], color: Number) -> Float[Array, "T *rest"]:
    """White noise with its spectrum made 1/f^color along the first axis.

    Each number alone is a standard normal one still; `color` 0 leaves the noise white, 1 is pink.
    """
    n = white.shape[0]
    frequency = jnp.maximum(jnp.fft.rfftfreq(n), 1 / n)
    gain = frequency ** (-0.5 * color)
    both_sides = jnp.concatenate([gain, gain[1 : (n + 1) // 2]])
    gain = gain / jnp.sqrt(jnp.mean(jnp.square(both_sides)))
    spectrum = jnp.fft.rfft(white, axis=0) * gain.reshape(-1, *(1,) * (white.ndim - 1))
    return jnp.fft.irfft(spectrum, n, axis=0)
