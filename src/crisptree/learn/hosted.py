"""Learning in environments outside JAX: a host loop of acting and stepping, and a compiled update.

Seeds are the first axis of every array: S seeds of N environments are S·N environments, one call
acts for all of them, and actors and critics of all agents are improved by a compiled call each.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from crisptree.envs.host import HostEnvs
from crisptree.learn import q_learning
from crisptree.learn.acting import Sampler, sampler
from crisptree.learn.agent import Learner
from crisptree.learn.config import AnyLearning, Learning
from crisptree.learn.improve import ACTOR, CRITIC, finished, prepared, steps_of
from crisptree.learn.q_config import QLearning
from crisptree.learn.rates import Rates, rates_of, shape_of
from crisptree.learn.rollout import Rollout

Kind = TypeVar("Kind", bound=Learner)
BESIDE = ThreadPoolExecutor(1, thread_name_prefix="actor")
"""Where actors learn while this thread's critics do."""


@lru_cache(maxsize=32)
def _noise(config: AnyLearning):
    def noise(agent: Learner) -> Float[Array, "T N"]:
        key = jax.random.fold_in(agent.key, 0)
        return jax.random.uniform(key, (config.n_steps, config.n_envs))

    return eqx.filter_jit(eqx.filter_vmap(noise))


Learn = Callable[[Any, Rollout, Rates | None], tuple[Any, dict[str, Array]]]
"""The agents after an update on what they lived through, and what to log."""


@lru_cache(maxsize=32)
def _learning(config: AnyLearning) -> Learn:
    if isinstance(config, QLearning):
        return _over_seeds(lambda agent, rollout, _: q_learning.improve(agent, rollout, config))
    assert isinstance(config, Learning)
    prepare, finish, actors, critics = (
        _over_seeds(partial(part, config=config))
        for part in (prepared, finished, partial(steps_of, ACTOR), partial(steps_of, CRITIC))
    )

    def learn(agents: Any, rollout: Rollout, rates: Rates | None) -> tuple[Any, dict[str, Array]]:
        agents, *given = prepare(agents, rollout, rates)
        # Neither needs to know of the other, so each has a core.
        acting = BESIDE.submit(actors, agents, *given, rates)
        critic, about_critic = critics(agents, *given, rates)
        actor, about_actor = acting.result()
        agents = finish(CRITIC.put(ACTOR.put(agents, actor), critic), rollout, rates)
        return agents, about_actor | about_critic

    return learn


def _over_seeds(function: Callable) -> Callable:
    """Compiled, over the first axis of all arguments but the last: rates are those of all."""

    def together(*given):
        axes = (*(eqx.if_array(0) for _ in given[1:]), None)
        return eqx.filter_vmap(function, in_axes=axes)(*given)

    return eqx.filter_jit(together)


class Part:
    """Some environments of every seed that step together, in the middle of their episodes."""

    def __init__(self, envs: HostEnvs, n_seeds: int, gamma: float, seed: int) -> None:
        self.envs, self.n_seeds, self.gamma = envs, n_seeds, gamma
        self.observation = envs.reset(seed)
        self.rows = len(self.observation)
        self.running_return = np.zeros(self.rows, np.float32)
        self.episode_return = np.zeros(self.rows, np.float32)
        self.seen: list[tuple] = []

    def begin(self, act: Sampler, uniform: np.ndarray) -> None:
        """Acts, and lets the environments step."""
        action, log_probability = act(self._by_seed(self.observation), uniform)
        self.action, self.log_probability = action.reshape(-1), log_probability.reshape(-1)
        self.envs.send(self.action)

    def finish(self) -> None:
        """Waits for the step, and keeps what it led to."""
        at = self.envs.receive()
        running_return = self.gamma * self.running_return + at.reward
        self.episode_return += at.reward
        over = at.terminated | at.truncated
        cut = over | ~at.valid
        self.seen.append(
            (
                self.observation,
                self.action,
                self.log_probability,
                at.reward,
                running_return,
                at.next_observation,
                at.terminated,
                cut,
                at.valid,
                over,
                np.where(over, self.episode_return, 0),
            )
        )
        self.episode_return[cut] = 0
        self.running_return = np.where(cut, 0, running_return)
        self.observation = at.observation

    def lived(self) -> list[np.ndarray]:
        """All that was kept since the last time: seeds first, then time, then environments."""
        parts = zip(*self.seen, strict=True)
        self.seen = []
        return [np.stack([self._by_seed(rows) for rows in part], 1) for part in parts]

    def _by_seed(self, rows: np.ndarray) -> np.ndarray:
        return rows.reshape(self.n_seeds, self.rows // self.n_seeds, *rows.shape[1:])


class Stage:
    """S·N host environments, in parts: while one part steps, another is acted for."""

    def __init__(
        self, parts: Sequence[HostEnvs], n_seeds: int, config: AnyLearning, seed: int
    ) -> None:
        self.config, self.shape, self.rates = config, shape_of(config), rates_of(config)
        self.parts: list[Part] = []
        for envs in parts:
            self.parts.append(Part(envs, n_seeds, config.gamma, seed))
            seed += self.parts[-1].rows
        self.cuts = np.cumsum([part.rows // n_seeds for part in self.parts])[:-1]

    def update(self, agents: Kind) -> tuple[Kind, dict[str, np.ndarray]]:
        """A rollout of every environment, and the update of every agent on its part of it."""
        noise, learn = _noise(self.shape), _learning(self.shape)
        act = sampler(agents)
        for time, uniform in enumerate(np.moveaxis(np.asarray(noise(agents)), 1, 0)):
            for part, its in zip(self.parts, np.split(uniform, self.cuts, 1), strict=True):
                if time > 0:
                    part.finish()
                part.begin(act, its)
        for part in self.parts:
            part.finish()
        every = zip(*(part.lived() for part in self.parts), strict=True)
        *seen, over, returns = (np.concatenate(parts, 2) for parts in every)
        agents, metrics = learn(agents, Rollout(*map(jnp.asarray, seen)), self.rates)
        total, count = returns.sum((1, 2), np.float64), over.sum((1, 2), np.float64)
        with np.errstate(invalid="ignore"):
            metrics = {"return": total / count, "episodes": count, **metrics}
        return agents, {name: np.asarray(value) for name, value in metrics.items()}
