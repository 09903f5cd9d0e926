"""Where zerglings stand: tables of placements, drawn once as the map's script draws them.

The script draws a place again and again until it is far enough from every zergling that already
stands. Doing so inside a vectorised step would cost every environment the worst case, so the draws
are made here, on first use and from a fixed seed; a step picks a row and mirrors it. Tables are in
grains.
"""

import functools
from collections.abc import Callable

import numpy as np

from crisptree.envs.zerglings.rules import (
    CENTRE_X,
    CENTRE_Y,
    EAST,
    GRAINS,
    N_ZERGLINGS,
    NORTH,
    SOUTH,
    WEST,
)

N_LAYOUTS = 512
N_SPARE = 40
"""Places a respawn row offers, of which the first 25 far from every marine are taken."""
APART = 5.0

Sampler = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]


def _first(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    radius, angle = rng.uniform(8.0, 9.0, shape), rng.uniform(0.0, 2 * np.pi, shape)
    return np.stack([CENTRE_X + radius * np.cos(angle), CENTRE_Y + radius * np.sin(angle)])


def _between(inner: float, outer: float, margin: float) -> Sampler:
    """Places that far from the centre and from the arena's edge; NaN stands for a miss."""

    def sample(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
        x = rng.uniform(WEST + margin, EAST - margin, shape)
        y = rng.uniform(SOUTH + margin, NORTH - margin, shape)
        radius = np.hypot(x - CENTRE_X, y - CENTRE_Y)
        return np.where((radius >= inner) & (radius <= outer), np.stack([x, y]), np.nan)

    return sample


def _place(samplers: list[tuple[Sampler, int]], seed: int) -> np.ndarray:
    """`(N_LAYOUTS, 2, places)`: one place from each sampler in turn, each APART from the others.

    A sampler has so many tries; layouts in which one found no place are left out.
    """
    rng = np.random.default_rng(seed)
    rows = np.arange(2 * N_LAYOUTS)
    places = np.full((2, len(rows), len(samplers)), np.nan, np.float32)
    complete = np.ones(len(rows), bool)
    for k, (sample, tries) in enumerate(samplers):
        candidates = sample(rng, (len(rows), tries)).astype(np.float32)
        fits = ~np.isnan(candidates[0])
        for standing in range(k):
            gap = candidates - places[:, :, None, standing]
            fits &= np.square(gap).sum(axis=0) >= APART**2
        places[:, :, k] = candidates[:, rows, np.argmax(fits, axis=1)]
        complete &= fits.any(axis=1)
    if complete.sum() < N_LAYOUTS:
        raise AssertionError(f"only {complete.sum()} of {N_LAYOUTS} zergling layouts were placed")
    kept = places[:, complete][:, :N_LAYOUTS].swapaxes(0, 1)
    return np.rint(kept * GRAINS).astype(np.int32)


@functools.cache
def starts() -> np.ndarray:
    """`(N_LAYOUTS, 2, 25)`: one at 8-9 from the centre, one at 7.5-9.5, the rest beyond 10.5."""
    second, others = _between(7.5, 9.5, margin=0.0), _between(10.5, np.inf, margin=1.0)
    rest = [(others, 8 * k) for k in range(2, N_ZERGLINGS)]
    return _place([(_first, 1), (second, 128), *rest], seed=1)


@functools.cache
def respawns() -> np.ndarray:
    """`(N_LAYOUTS, 2, N_SPARE)`: anywhere in the arena."""
    anywhere = _between(0.0, np.inf, margin=0.0)
    return _place([(anywhere, 1 + k * k // 4) for k in range(N_SPARE)], seed=2)
