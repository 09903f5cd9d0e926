"""Returns of a policy, episode by episode, each with a seed of its own. No JAX here."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import gymnasium as gym
import numpy as np

from crisptree.envs.cartpole_rows import play_rows
from crisptree.envs.host import EnvpoolEnvs, envpool_has, host_envs
from crisptree.envs.registry import is_functional, plays_in_rows
from crisptree.envs.seeds import block_seed
from crisptree.envs.spaces import describe, make, team_size

SIDE_BY_SIDE = 64
MOST_AT_ONCE = 1024


@runtime_checkable
class Policy(Protocol):
    """Anything that maps a batch of observations to actions as Stable-Baselines3's do."""

    def predict(
        self,
        observation: Any,
        /,
        state: Any = ...,
        episode_start: Any = ...,
        deterministic: bool = ...,
    ) -> tuple[Any, Any]: ...


def play(
    policy: Policy,
    env_id: str,
    seeds: Sequence[int],
    *,
    report: Callable[[int], None] | None = None,
) -> np.ndarray:
    """The return of one episode a seed, in gymnasium's own environment or bit for bit as there,
    greedily.

    Episodes run side by side so that the policy sees batches; a return depends on its seed alone.
    """
    if not seeds:
        return np.zeros(0)
    if plays_in_rows(env_id):
        decide: Decide = lambda _, at: policy.predict(at, deterministic=True)[0]
        return play_rows(decide, seeds, *([] if report is None else [report]))
    if is_functional(env_id) and env_id.startswith("crisptree/"):
        return _play_team(policy, env_id, seeds, report)
    n = min(SIDE_BY_SIDE, len(seeds))
    envs = [make(env_id) for _ in range(n)]
    returns = np.zeros(len(seeds))
    n_agents, first = team_size(envs[0]), _first_action(envs[0])
    waiting = list(enumerate(seeds))[::-1]
    playing: list[tuple[int, gym.Env, np.ndarray]] = []
    for env in envs:
        index, seed = waiting.pop()
        playing.append((index, env, env.reset(seed=int(seed))[0]))
    finished = 0
    while playing:
        # A row an agent: those of a team stand below one another.
        rows = np.asarray([at for _, _, at in playing], np.float32)
        rows = rows.reshape(len(playing) * (n_agents or 1), -1)
        actions = np.asarray(policy.predict(rows, deterministic=True)[0]) + first
        if n_agents is not None:
            actions = actions.reshape(-1, n_agents)
        still: list[tuple[int, gym.Env, np.ndarray]] = []
        for (index, env, _), action in zip(playing, actions.tolist(), strict=True):
            at, reward, terminated, truncated, _ = env.step(action)
            returns[index] += float(reward)
            if terminated or truncated:
                finished += 1
                if report is not None:
                    report(finished)
                if not waiting:
                    continue
                index, seed = waiting.pop()
                at = env.reset(seed=int(seed))[0]
            still.append((index, env, at))
        playing = still
    for env in envs:
        env.close()
    return returns


def _play_team(
    policy: Policy, env_id: str, seeds: Sequence[int], report: Callable[[int], None] | None
) -> np.ndarray:
    """Our own simulators have the same episodes, all of them in one compiled step."""
    envs = gym.make_vec(env_id, num_envs=len(seeds), vectorization_mode="vector_entry_point")
    at, _ = envs.reset(seed=[int(seed) for seed in seeds])  # pyright: ignore[reportArgumentType]
    returns, running = np.zeros(len(seeds)), np.ones(len(seeds), bool)
    while running.any():
        rows = np.asarray(at, np.float32).reshape(-1, at.shape[-1])
        actions = np.asarray(policy.predict(rows, deterministic=True)[0])
        at, reward, terminated, truncated, _ = envs.step(actions.reshape(len(seeds), -1))
        returns += np.where(running, reward, 0.0)
        running &= ~(terminated | truncated)
        if report is not None:
            report(int((~running).sum()))
    envs.close()
    return returns


def _first_action(env: gym.Env) -> int:
    return int(env.action_space.start) if isinstance(env.action_space, gym.spaces.Discrete) else 0


Decide = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""The actions in the episodes of the given numbers, from their observations."""


def quick_play(policy: Policy, env_id: str, first_seed: int, episodes: int) -> np.ndarray:
    """The same through envpool where it has the id, else through gymnasium; for choosing only."""
    seeds = range(first_seed, first_seed + episodes)
    if not envpool_has(env_id):
        return play(policy, env_id, seeds)
    return play_pool(lambda _, at: policy.predict(at, deterministic=True)[0], env_id, seeds)


def play_pool(decide: Decide, env_id: str, seeds: Sequence[int]) -> np.ndarray:
    """The return of one episode a seed through envpool, `MOST_AT_ONCE` side by side.

    An episode that is over is stepped no more: a few long ones cost no more than their own steps.
    """
    returns = np.zeros(len(seeds))
    for start in range(0, len(seeds), MOST_AT_ONCE):
        some = list(seeds[start : start + MOST_AT_ONCE])
        pool = EnvpoolEnvs(env_id, len(some))
        observation, running = pool.reset(some), np.arange(len(some))
        while len(running):
            actions = np.asarray(decide(start + running, observation))
            observation, reward, over = pool.step_some(actions, running)
            returns[start + running] += reward
            observation, running = observation[~over], running[~over]
        pool.close()
    return returns


def random_return(env_id: str, seed: int, episodes: int = 64) -> float:
    """What uniformly random actions earn on average: the foot of the scale."""
    envs = host_envs(env_id, episodes)
    n_actions = describe(env_id).n_actions
    choose = np.random.default_rng(seed)
    rows = len(envs.reset(block_seed("selection", episodes, seed)))
    returns, running = np.zeros(rows), np.ones(rows, bool)
    while running.any():
        at = envs.step(choose.integers(n_actions, size=rows))
        returns += np.where(running, at.reward, 0)
        running &= ~(at.terminated | at.truncated)
    envs.close()
    return float(returns.mean())
