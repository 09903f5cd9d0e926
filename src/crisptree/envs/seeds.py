"""Seeds of episodes, one range for each purpose: what selects a tree never scores it.

Training draws below 2^29; episodes that choose among trees come from the next range, episodes
that are reported from the last one. The ranges do not meet, whatever the user's seed.
"""

from typing import Literal

import numpy as np

Purpose = Literal["training", "selection", "reporting"]

_WIDTH = 2**29
_RANGE = {"training": 0, "selection": 1, "reporting": 2}
EPISODES_PER_SEED = 2**16


def episode_seeds(purpose: Purpose, seed: int, count: int) -> list[int]:
    """`count` consecutive seeds; 8,192 neighbouring user seeds share none of them."""
    start = (seed * EPISODES_PER_SEED) % _WIDTH
    return [_RANGE[purpose] * _WIDTH + (start + i) % _WIDTH for i in range(count)]


def block_seed(purpose: Purpose, width: int, *entropy: int) -> int:
    """The first of `width` consecutive seeds, picked at random from `entropy`."""
    blocks = _WIDTH // width
    pick = int(np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0] % blocks)
    return _RANGE[purpose] * _WIDTH + pick * width
