"""Learning in environments outside JAX: a host loop of acting and stepping, and a compiled update.

Seeds are the first axis of every array: S seeds of N environments are S·N environments, one call
acts for all of them and one compiled call improves all agents.
"""

from functools import lru_cache
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from crisptree.envs.host import HostEnvs
from crisptree.learn import q_learning
from crisptree.learn.acting import sampler
from crisptree.learn.agent import Learner
from crisptree.learn.config import AnyLearning, Learning
from crisptree.learn.improve import improve
from crisptree.learn.q_config import QLearning
from crisptree.learn.rates import Rates, rates_of, shape_of
from crisptree.learn.rollout import Rollout

Kind = TypeVar("Kind", bound=Learner)


@lru_cache(maxsize=32)
def _compiled(config: AnyLearning):
    def noise(agent: Learner) -> Float[Array, "T N"]:
        key = jax.random.fold_in(agent.key, 0)
        return jax.random.uniform(key, (config.n_steps, config.n_envs))

    def learn(agent: Any, rollout: Rollout, rates: Rates | None):
        if isinstance(config, QLearning):
            return q_learning.improve(agent, rollout, config)
        assert isinstance(config, Learning) and rates is not None
        return improve(agent, rollout, config, rates)

    over_seeds = (eqx.if_array(0), 0, None)
    return (
        eqx.filter_jit(eqx.filter_vmap(noise)),
        eqx.filter_jit(eqx.filter_vmap(learn, in_axes=over_seeds)),
    )


class Stage:
    """S·N host environments in the middle of their episodes."""

    def __init__(self, envs: HostEnvs, n_seeds: int, config: AnyLearning, seed: int) -> None:
        self.envs, self.config, self.n_seeds = envs, config, n_seeds
        self.shape, self.rates = shape_of(config), rates_of(config)
        self.observation = envs.reset(seed)
        rows = n_seeds * config.n_envs
        self.running_return = np.zeros(rows, np.float32)
        self.episode_return = np.zeros(rows, np.float32)

    def _by_seed(self, rows: np.ndarray) -> np.ndarray:
        return rows.reshape(self.n_seeds, self.config.n_envs, *rows.shape[1:])

    def update(self, agents: Kind) -> tuple[Kind, dict[str, np.ndarray]]:
        """A rollout of every environment, and the update of every agent on its part of it."""
        config, rows = self.config, len(self.observation)
        noise, learn = _compiled(self.shape)
        act = sampler(agents)
        seen: list[tuple] = []
        totals, counts = np.zeros(rows), np.zeros(rows)
        for uniform in np.moveaxis(np.asarray(noise(agents)), 1, 0):
            action, log_probability = act(self._by_seed(self.observation), uniform)
            at = self.envs.step(action.reshape(-1))
            self.running_return = config.gamma * self.running_return + at.reward
            self.episode_return += at.reward
            over = at.terminated | at.truncated
            totals[over] += self.episode_return[over]
            counts[over] += 1
            seen.append(
                (
                    self.observation,
                    action.reshape(-1),
                    log_probability.reshape(-1),
                    at.reward,
                    self.running_return,
                    at.next_observation,
                    at.terminated,
                    over | ~at.valid,
                    at.valid,
                )
            )
            self.episode_return[over | ~at.valid] = 0
            self.running_return = np.where(over | ~at.valid, 0, self.running_return)
            self.observation = at.observation
        parts = (jnp.asarray(self._seeds_first(np.stack(part))) for part in zip(*seen, strict=True))
        rollout = Rollout(*parts)
        agents, metrics = learn(agents, rollout, self.rates)
        total = totals.reshape(self.n_seeds, -1).sum(1)
        count = counts.reshape(self.n_seeds, -1).sum(1)
        with np.errstate(invalid="ignore"):
            metrics = {"return": total / count, "episodes": count, **metrics}
        return agents, {name: np.asarray(value) for name, value in metrics.items()}

    def _seeds_first(self, part: np.ndarray) -> np.ndarray:
        split = part.reshape(len(part), self.n_seeds, self.config.n_envs, *part.shape[2:])
        return np.moveaxis(split, 1, 0)
