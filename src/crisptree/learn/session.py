"""Learning in segments: the one loop that everything that trains goes through.

Every `RESTART` updates all environments start afresh, seeded by the agents' own keys and update
count. So at those moments the agents are the whole state of a training: saved there and loaded
again, it goes on bit for bit, whatever the environment is made of.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from crisptree.envs.functional import FunctionalEnv
from crisptree.envs.host import EnvpoolEnvs, host_envs, threads
from crisptree.envs.registry import functional_env, is_functional
from crisptree.envs.seeds import block_seed
from crisptree.errors import CrisptreeError
from crisptree.learn import compiled, q_learning
from crisptree.learn.agent import Learner
from crisptree.learn.cache import jit_for
from crisptree.learn.compiled import advancing, opening
from crisptree.learn.config import AnyLearning
from crisptree.learn.hosted import Stage
from crisptree.learn.q_config import QLearning
from crisptree.learn.q_session import hosted_update
from crisptree.learn.rates import rates_of, shape_of

RESTART = 64

Kind = TypeVar("Kind", bound=Learner)
Stacked = TypeVar("Stacked")
Segment = Callable[[Any, int], tuple[Any, dict[str, np.ndarray]]]
"""Makes n updates of the agents; remembers where the environments stand until the next restart."""


class Progress(NamedTuple):
    """Where a training stands after a segment; metrics are `(updates, seeds)`."""

    agents: Any
    update: int
    metrics: dict[str, np.ndarray]

    @property
    def is_resumable(self) -> bool:
        """Whether the agents alone are enough to go on from here."""
        return self.update % RESTART == 0


@lru_cache(maxsize=32)
def _openings(env: FunctionalEnv, config: AnyLearning):
    """A compiled function from the keys of all seeds to their fresh scenes."""
    fresh = jax.vmap(lambda key: opening(env, config, jax.random.fold_in(key, 2)))
    return jit_for(config)(fresh)


def compiled_segment(env: FunctionalEnv, config: AnyLearning, most: int) -> Segment:
    """Segments in a JAX environment, up to `most` updates each, as one program."""
    update = q_learning.update if isinstance(config, QLearning) else compiled.update
    shape, rates = shape_of(config), rates_of(config)
    advance, open_scenes = advancing(env, shape, most, update), _openings(env, shape)
    scenes: Any = None

    def segment(agents: Any, n: int) -> tuple[Any, dict[str, np.ndarray]]:
        nonlocal scenes
        if scenes is None or first(agents.update) % RESTART == 0:
            scenes = open_scenes(agents.key)
        agents, scenes, log = advance(agents, scenes, jnp.asarray(n), rates)
        return agents, {name: np.asarray(values)[:n] for name, values in log.items()}

    return segment


def hosted_segment(env_id: str, config: AnyLearning, n_seeds: int, seed: int) -> Segment:
    """Segments in a host environment."""
    envs = host_envs(env_id, n_seeds * config.n_envs, n_threads=threads())
    # Seeds that act together wait for each other, so only one seed has its environments in parts.
    parts = envs.parts() if n_seeds == 1 and isinstance(envs, EnvpoolEnvs) else [envs]
    update = hosted_update if isinstance(config, QLearning) else Stage.update
    stage: Stage | None = None

    def segment(agents: Any, n: int) -> tuple[Any, dict[str, np.ndarray]]:
        nonlocal stage
        at = first(agents.update)
        if stage is None or at % RESTART == 0:
            first_seed = block_seed("training", n_seeds * config.n_envs, seed, at)
            stage = Stage(parts, n_seeds, config, first_seed)
        logs = []
        for _ in range(n):
            agents, metrics = update(stage, agents)
            logs.append(metrics)
        return agents, {name: np.stack([log[name] for log in logs]) for name in logs[0]}

    return segment


def segment_for(env_id: str, config: AnyLearning, n_seeds: int, seed: int, most: int) -> Segment:
    """Compiled where the environment has a twin in JAX, else hosted."""
    if is_functional(env_id):
        return compiled_segment(functional_env(env_id), config, most)
    return hosted_segment(env_id, config, n_seeds, seed)


def learn(agents: Learner, segment: Segment, length: int) -> Iterator[Progress]:
    """Segments of `length` updates until the agents' own count of updates is reached.

    A restart always falls between two segments.
    """
    update, total = first(agents.update), first(agents.n_updates)
    while update < total:
        n = min(length, total - update, RESTART - update % RESTART)
        agents, metrics = segment(agents, n)
        update += n
        for name, values in metrics.items():
            if name.endswith("loss") and not np.isfinite(values).all():
                raise CrisptreeError(
                    f"the {name.replace('_', ' ')} became NaN at update {update}: "
                    "a smaller learning rate would help; the last good checkpoint is kept"
                )
        yield Progress(agents, update, metrics)


def first(counts: Any) -> int:
    """That of the first seed; all seeds keep step. NumPy's work: JAX would compile it."""
    return int(np.asarray(counts)[0])


def stack(agents: list[Kind]) -> Kind:
    """Several seeds as one agent with a first axis."""
    parts = [eqx.partition(agent, eqx.is_array) for agent in agents]
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *(dynamic for dynamic, _ in parts))
    return eqx.combine(stacked, parts[0][1])


def pick(agents: Stacked, seed: int) -> Stacked:
    """One seed of several, of agents or parts of them.

    NumPy cuts it out: JAX would compile a program for every shape.
    """

    def of_leaf(leaf: Any) -> Any:
        if not eqx.is_array(leaf):
            return leaf
        is_key = jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key)
        return leaf[seed] if is_key else jax.device_put(np.asarray(leaf)[seed])

    return jax.tree.map(of_leaf, agents)
