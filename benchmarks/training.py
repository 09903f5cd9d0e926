"""Steps per second with learning: our PPO on CartPole beside Stable-Baselines3's.

Both in one run, one after the other; medians over repeats, compile time apart.
"""

import importlib.util
import resource
import statistics
import time

import jax
import jax.numpy as jnp

from crisptree import soft
from crisptree.envs.cartpole import CartPole
from crisptree.learn.agent import create
from crisptree.learn.compiled import advancing, opening
from crisptree.learn.session import stack
from crisptree.pipeline.recipe import CARTPOLE

REPEATS = 5
UPDATES = 32


def ours(leaves: int = 8) -> tuple[float, float]:
    """Environment steps a second, and the seconds the compiler took."""
    config, env = CARTPOLE.soft, CartPole()
    actor = soft.SoftTree.random(soft.balanced(leaves), 4, 2, key=jax.random.key(0))
    agents = stack([create(actor, 4, config, 10_000, key=jax.random.key(1))])
    scenes = jax.vmap(lambda key: opening(env, config, key))(agents.key)
    advance = advancing(env, config, UPDATES)
    began = time.perf_counter()
    agents, scenes, log = jax.block_until_ready(advance(agents, scenes, jnp.asarray(1)))
    compiling = time.perf_counter() - began
    rates = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        agents, scenes, log = advance(agents, scenes, jnp.asarray(UPDATES))
        jax.block_until_ready(log)
        rates.append(UPDATES * config.steps_per_update / (time.perf_counter() - began))
    return statistics.median(rates), compiling


def stable_baselines(steps: int = 12_000) -> float:
    """PPO with the RL Zoo's CartPole settings, one thread, 8 environments."""
    import torch
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_util import make_vec_env

    torch.set_num_threads(1)
    envs = make_vec_env("CartPole-v1", n_envs=8, seed=0)
    model = PPO(
        "MlpPolicy",
        envs,
        n_steps=32,
        batch_size=256,
        gae_lambda=0.8,
        gamma=0.98,
        n_epochs=20,
        ent_coef=0.0,
        learning_rate=1e-3,
        clip_range=0.2,
        seed=0,
        device="cpu",
    )
    model.learn(512)
    began = time.perf_counter()
    model.learn(steps)
    return steps / (time.perf_counter() - began)


def rows() -> list[dict]:
    rate, compiling = ours()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    table = [
        {"name": "compile seconds of the CartPole trainer", "ours": round(compiling, 2)},
        {"name": "peak memory of it, MB", "ours": round(peak)},
    ]
    if importlib.util.find_spec("stable_baselines3") is None:
        print("Stable-Baselines3 is not installed: pip install torch==2.13.0 'crisptree[sb3]'")
        return [{"name": "CartPole PPO steps/s, 8-leaf tree", "ours": round(rate)}, *table]
    peer = stable_baselines()
    named = "CartPole PPO steps/s with learning, 8-leaf soft tree, against Stable-Baselines3"
    return [
        {"name": named, "ours": round(rate), "peer": round(peer), "ratio": round(rate / peer, 1)},
        *table,
    ]


if __name__ == "__main__":
    for row in rows():
        print(row)
