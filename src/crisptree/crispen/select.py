"""Choosing among crisp trees by return, on episodes that are never reported."""

import math
from collections.abc import Sequence

import numpy as np

from crisptree.crisp import CrispTree
from crisptree.crispen.compiled_play import play_compiled
from crisptree.crispen.forest import play_forest
from crisptree.envs.registry import functional_env, greatest_return, is_functional, plays_in_rows
from crisptree.envs.seeds import block_seed


class Selection:
    """A stream of selection episodes; every call sees fresh ones."""

    def __init__(self, env_id: str, seed: int) -> None:
        self.env_id, self._seed, self._calls = env_id, seed, 0

    def returns(self, trees: Sequence[CrispTree], episodes: int) -> list[np.ndarray]:
        """The same episodes for each tree: differences between trees are then less noisy."""
        self._calls += 1
        first = block_seed("selection", episodes, self._seed, self._calls)
        return list(self._play(trees, range(first, first + episodes)))

    def flawless(
        self, trees: Sequence[CrispTree], moment: int, rounds: Sequence[int]
    ) -> int | None:
        """The first tree that earns the greatest return there is in every episode of all rounds.

        Episodes are those of the `moment`, no call's: a run that is resumed meets the same ones.
        """
        alive = list(range(len(trees)))
        for episodes in rounds:
            if alive:
                seeds = self.at(moment, episodes)
                short = self.short([trees[i] for i in alive], seeds, strict=True)
                alive = [i for i, falls in zip(alive, short, strict=True) if not falls.any()]
        return min(alive, default=None)

    def short(
        self, trees: Sequence[CrispTree], seeds: Sequence[int], *, strict: bool = False
    ) -> np.ndarray:
        """Which episodes earn less than the greatest return there is, `(trees, episodes)`: all,
        where that is unknown. `strict`: only whether a tree has any is asked."""
        greatest = greatest_return(self.env_id)
        if greatest == math.inf:
            return np.ones((len(trees), len(seeds)), bool)
        return self._play(trees, seeds, strict=strict) < greatest

    def at(self, moment: int, episodes: int) -> range:
        """The seeds of a moment's episodes."""
        first = block_seed("selection", episodes, self._seed, 0, moment)
        return range(first, first + episodes)

    def _play(
        self, trees: Sequence[CrispTree], seeds: Sequence[int], *, strict: bool = False
    ) -> np.ndarray:
        """`strict`: how much a tree earns that falls short of the greatest return is not asked."""
        if is_functional(self.env_id) and not plays_in_rows(self.env_id):
            assert isinstance(seeds, range), "compiled episodes have seeds that follow each other"
            return play_compiled(trees, functional_env(self.env_id), seeds.start, len(seeds))
        return play_forest(trees, self.env_id, seeds, strict=strict)

    def race(
        self, trees: Sequence[CrispTree], rounds: Sequence[int] = (16, 32, 64), keep: float = 1 / 3
    ) -> tuple[int, float]:
        """Successive halving: the index of the best tree and its mean return over all rounds."""
        return self.finalists(trees, rounds, keep)[0]

    def finalists(
        self, trees: Sequence[CrispTree], rounds: Sequence[int], keep: float = 1 / 3
    ) -> list[tuple[int, float]]:
        """Who ran the last round of the race, the best first; of equals, the earlier."""
        alive = list(range(len(trees)))
        sums, counts = np.zeros(len(trees)), np.zeros(len(trees))
        for number, episodes in enumerate(rounds):
            if number > 0:
                alive = alive[: max(1, int(np.ceil(len(alive) * keep)))]
            played = self.returns([trees[i] for i in alive], episodes)
            for i, returns in zip(alive, played, strict=True):
                sums[i] += returns.sum()
                counts[i] += episodes
            alive.sort(key=lambda i: (-sums[i] / counts[i], i))
        return [(i, float(sums[i] / counts[i])) for i in alive]
