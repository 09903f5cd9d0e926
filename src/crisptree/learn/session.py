"""Learning in segments: the one loop that everything that trains goes through.

Every `RESTART` updates all environments start afresh, seeded by the agents' own keys and update
count. So at those moments the agents are the whole state of a training: saved there and loaded
again, it goes on bit for bit, whatever the environment is made of.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import jax
import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.base.processes import cores
from crisptree.envs.functional import FunctionalEnv
from crisptree.envs.host import EnvpoolEnvs, host_envs, threads
from crisptree.envs.registry import functional_env, is_functional
from crisptree.envs.seeds import block_seed
from crisptree.learn import compiled, q_learning
from crisptree.learn.agent import Learner
from crisptree.learn.compiled import advancing, openings
from crisptree.learn.config import AnyLearning
from crisptree.learn.hosted import Stage
from crisptree.learn.q_config import QLearning
from crisptree.learn.q_session import hosted_update
from crisptree.learn.rates import rates_of, shape_of
from crisptree.learn.stacks import apart, first, together

RESTART = 64
SIDE_BY_SIDE = ThreadPoolExecutor(cores(), thread_name_prefix="seeds")

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


def compiled_segment(env: FunctionalEnv, config: AnyLearning, most: int) -> Segment:
    """Segments in a JAX environment, up to `most` updates each, as one program."""
    update = q_learning.update if isinstance(config, QLearning) else compiled.update
    shape, rates = shape_of(config), rates_of(config)
    advance, open_scenes = advancing(env, shape, most, update), openings(env, shape)
    scenes: list[Any] = []
    latest: tuple[Any, list[Any]] = (None, [])

    def segment(agents: Any, n: int) -> tuple[Any, dict[str, np.ndarray]]:
        nonlocal scenes, latest
        parts = latest[1] if agents is latest[0] else side_by_side(agents)
        if not scenes or first(agents.update) % RESTART == 0:
            scenes = [open_scenes(part.key) for part in parts]

        if latest[0] is None and len(parts) > 1:  # compiled once, before all of them ask for it
            advance.compiled(parts[0], scenes[0], np.int32(n), rates)

        def advanced(part: Any, scene: Any) -> tuple:
            return jax.block_until_ready(advance(part, scene, np.int32(n), rates))

        done = SIDE_BY_SIDE.map(advanced, parts, scenes)
        parts, scenes, logs = (list(every) for every in zip(*done, strict=True))
        latest = together(parts), parts
        log = {name: [np.asarray(each[name])[:n] for each in logs] for name in logs[0]}
        return latest[0], {name: np.concatenate(every, 1) for name, every in log.items()}

    return segment


def side_by_side(agents: Any) -> list[Any]:
    """What is advanced at the same time: on a CPU a seed a core, by one program that serves any
    number of seeds; an accelerator takes all of them at once."""
    return apart(agents) if seeds_apart() else [agents]


def seeds_apart() -> bool:
    """Whether seeds are advanced one by one, each as a stack of one."""
    return jax.default_backend() == "cpu"


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
