"""Seeds that learn at the same time.

On a CPU each seed is learned by itself, in a thread of its own, by one program for any number of
seeds; an accelerator takes all seeds at once.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import jax
import numpy as np

from crisptree.base.processes import cores
from crisptree.learn.config import AnyConfig
from crisptree.learn.stacks import pick, stack
from crisptree.learn.traced_config import for_seeds, of_seed


class Programs(NamedTuple):
    """One program compiled for a single seed, and for all seeds at once."""

    one: Callable[..., Any]
    every: Callable[..., Any]


class SeedPool:
    """Splits states into what runs at the same time: seeds in threads, or all of them at once."""

    def __init__(self, n_seeds: int, at_once: bool | None = None) -> None:
        self.n_seeds = n_seeds
        self.at_once = jax.default_backend() != "cpu" if at_once is None else at_once
        self._threads = ThreadPoolExecutor(min(n_seeds, cores()), thread_name_prefix="seed")
        self._compiled: set[Callable[..., Any]] = set()

    def split(self, states: Any) -> list[Any]:
        """Each seed's state, or the stack as it is."""
        return [states] if self.at_once else [pick(states, i) for i in range(self.n_seeds)]

    def join(self, parts: Sequence[Any]) -> Any:
        """The parts as one stack again."""
        return parts[0] if self.at_once else stack(parts)

    def configs(self, config: AnyConfig) -> list[AnyConfig]:
        """The configuration of each part."""
        if self.at_once:
            return [for_seeds(config, self.n_seeds)]
        return [of_seed(config, i) for i in range(self.n_seeds)]

    def run(self, programs: Programs, *arguments: Sequence[Any]) -> list[Any]:
        """What the program gives for each part; `arguments` have one entry for each."""
        program = programs.every if self.at_once else programs.one

        def run_one(*own: Any) -> Any:
            return jax.block_until_ready(program(*own))

        parts = list(zip(*arguments, strict=True))
        if program in self._compiled:
            return list(self._threads.map(run_one, *arguments))
        # Once, the first alone: threads would compile the same program side by side.
        self._compiled.add(program)
        first = run_one(*parts[0])
        return [first, *self._threads.map(lambda own: run_one(*own), parts[1:])]

    def by_seed(self, values: Sequence[Any]) -> np.ndarray:
        """What the parts have, with seeds as the first axis."""
        arrays = [np.asarray(value) for value in values]
        return arrays[0] if self.at_once else np.stack(arrays)

    def close(self) -> None:
        self._threads.shutdown()
