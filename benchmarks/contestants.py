"""Those who are timed: each builds itself, warms up, and then runs whenever it is told to.

Every contestant lives in a process of its own (`python benchmarks/contestants.py NAME`): its
threads and its memory are its own, and rounds of several contestants can take turns. The process
answers each line on standard input with one JSON object.
"""

import contextlib
import json
import os
import resource
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

Run = Callable[[], int]
"""Does a round of work; returns the environment steps made."""


def cartpole_config() -> Any:
    """PPO for a soft tree on CartPole: many environments, few passes, a narrow critic."""
    from crisptree.learn.config import PPOConfig

    return PPOConfig(
        n_envs=256,
        n_steps=64,
        n_minibatches=4,
        n_epochs=2,
        critic_width=32,
        critic_learning_rate=4e-3,
        plateau_speedup=1.0,
    )


def tree_on_cartpole(leaves: int = 8, seeds: int = 1, updates: int = 32) -> Run:
    """Our PPO on soft trees, collecting and learning in one program."""
    import jax

    from crisptree import soft
    from crisptree.envs.cartpole import CartPole
    from crisptree.learn import ppo
    from crisptree.learn.seed_pool import SeedPool
    from crisptree.learn.stacks import stack
    from crisptree.learn.trainer import CompiledRunner

    config = cartpole_config()
    actor = soft.SoftTree.random(soft.balanced(leaves), 4, 2, key=jax.random.key(0))
    states = stack(
        [ppo.init(actor, 4, config, 100_000, key=jax.random.key(seed)) for seed in range(seeds)]
    )
    runner = CompiledRunner(CartPole(), config, SeedPool(seeds), updates)
    runner.restart(states, 0)

    def run() -> int:
        nonlocal states
        states = runner.advance(states, updates).states
        return seeds * updates * config.steps_per_update

    return run


def mlp_on_cartpole(same_settings: bool = False) -> Run:
    """The plain PPO on an MLP in JAX, at PureJaxRL's settings or at ours."""
    import jax
    from mlp_ppo import Settings, trainer

    settings = Settings()
    if same_settings:
        ours = cartpole_config()
        settings = Settings(ours.n_envs, ours.n_steps, ours.n_epochs, ours.n_minibatches)
    updates = max(1, 200_000 // settings.steps_per_update)
    start, advance = trainer(settings, updates)
    carry = jax.jit(start)(jax.random.key(0))

    def run() -> int:
        nonlocal carry
        carry, _ = jax.block_until_ready(advance(carry))
        return updates * settings.steps_per_update

    return run


def bare_cartpole(n_envs: int = 256, n_steps: int = 20_000) -> Run:
    """The limit: the environment alone in one program, random actions, fresh episodes."""
    import jax
    import jax.numpy as jnp

    from crisptree.envs.cartpole import CartPole

    env = CartPole()

    @jax.jit
    def scan(key):
        def step(states, key):
            for_actions, for_resets = jax.random.split(key)
            actions = jax.random.bernoulli(for_actions, shape=(n_envs,)).astype(jnp.int32)
            at = jax.vmap(lambda state, action: env.step(key, state, action))(states, actions)
            fresh, _ = jax.vmap(env.reset)(jax.random.split(for_resets, n_envs))
            over = at.terminated | at.truncated

            def pick(a, b):
                return jnp.where(over.reshape(-1, *(1,) * (a.ndim - 1)), a, b)

            return jax.tree.map(pick, fresh, at.state), over.sum()

        states, _ = jax.vmap(env.reset)(jax.random.split(key, n_envs))
        # Episodes are counted: of rewards, which are all 1, the compiler would count without us.
        return jax.lax.scan(step, states, jax.random.split(key, n_steps))[1].sum()

    def run() -> int:
        scan(jax.random.key(0)).block_until_ready()
        return n_envs * n_steps

    return run


ZOO = {
    "CartPole-v1": {
        "n_steps": 32,
        "batch_size": 256,
        "gae_lambda": 0.8,
        "gamma": 0.98,
        "n_epochs": 20,
        "ent_coef": 0.0,
        "learning_rate": 1e-3,
        "clip_range": 0.2,
    },
    "LunarLander-v3": {
        "n_steps": 1024,
        "batch_size": 64,
        "gae_lambda": 0.98,
        "gamma": 0.999,
        "n_epochs": 4,
        "ent_coef": 0.01,
    },
}
"""RL Zoo's settings, with 8 environments for CartPole and 16 for LunarLander."""
ZOO_ENVS = {"CartPole-v1": 8, "LunarLander-v3": 16}


def peer_ppo(package: str, env_id: str = "CartPole-v1", steps: int = 4096) -> Run:
    """PPO of Stable-Baselines3 (one torch thread: two are slower) or of sbx."""
    from stable_baselines3.common.env_util import make_vec_env

    if package == "sb3":
        import torch
        from stable_baselines3 import PPO

        torch.set_num_threads(1)
        device = {"device": "cpu"}
    else:
        from sbx import PPO

        device = {}
    n_envs = ZOO_ENVS[env_id]
    steps = max(steps, n_envs * ZOO[env_id]["n_steps"])
    model = PPO("MlpPolicy", make_vec_env(env_id, n_envs, seed=0), seed=0, **ZOO[env_id], **device)

    def run() -> int:
        before = model.num_timesteps
        model.learn(steps, reset_num_timesteps=False)
        return model.num_timesteps - before

    return run


def tree_on_lander(
    fast: bool = True, leaves: int = 32, updates: int = 4, n_envs: int | None = None
) -> Run:
    """Our PPO on an axis-aligned tree, environments through envpool (`fast`) or gymnasium: so many
    at a time, or as many as by default."""
    from dataclasses import replace

    import jax

    from crisptree import soft
    from crisptree.envs.envpool_envs import EnvpoolEnvs
    from crisptree.envs.gymnasium_envs import GymnasiumEnvs
    from crisptree.envs.task import task_of
    from crisptree.learn import ppo
    from crisptree.learn.seed_pool import SeedPool
    from crisptree.learn.stacks import stack
    from crisptree.learn.trainer import HostRunner
    from crisptree.pipeline.config import TrainConfig

    config, task = TrainConfig().ppo_for("direct"), task_of("LunarLander-v3")
    config = replace(config, n_envs=n_envs or config.n_envs)
    actor = soft.AxisTree.random(soft.balanced(leaves), 8, 4, key=jax.random.key(0))
    states = stack([ppo.init(actor, 8, config, 100_000, key=jax.random.key(0))])
    if fast:
        envs = EnvpoolEnvs(task, config.n_envs, os.cpu_count() or 1).parts()
    else:
        envs = [GymnasiumEnvs(task, config.n_envs)]
    runner = HostRunner(envs, config, SeedPool(1), 1, 0)
    runner.restart(states, 0)

    def run() -> int:
        nonlocal states
        states = runner.advance(states, updates).states
        return updates * config.steps_per_update

    return run


def bare_envpool(env_id: str = "LunarLander-v3", n_envs: int = 64, n_steps: int = 800) -> Run:
    """envpool alone on all cores, random actions."""
    import numpy as np

    from crisptree.envs.envpool_envs import EnvpoolEnvs
    from crisptree.envs.task import task_of

    envs = EnvpoolEnvs(task_of(env_id), n_envs, os.cpu_count() or 1)
    envs.reset(0)
    actions = np.random.default_rng(0).integers(0, 4, (n_steps, n_envs))

    def run() -> int:
        return sum(int(envs.step(action).valid.sum()) for action in actions)

    return run


CONTESTANTS: dict[str, Callable[..., Run]] = {
    "tree-cartpole": tree_on_cartpole,
    "mlp-cartpole": mlp_on_cartpole,
    "bare-cartpole": bare_cartpole,
    "ppo": peer_ppo,
    "tree-lander": tree_on_lander,
    "bare-envpool": bare_envpool,
}


def answer(**record: object) -> None:
    print(json.dumps(record), file=sys.__stdout__, flush=True)


def main(name: str, **options: object) -> None:
    try:
        began = time.perf_counter()
        run = CONTESTANTS[name](**options)
        run()
        answer(first=time.perf_counter() - began)
    except ImportError as error:
        answer(missing=str(error))
        return
    for _ in sys.stdin:
        began, cpu = time.perf_counter(), time.process_time()
        steps = run()
        answer(
            steps=steps,
            seconds=time.perf_counter() - began,
            cpu_seconds=time.process_time() - cpu,
            peak_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(sys.stderr):
        main(sys.argv[1], **json.loads(sys.argv[2] if len(sys.argv) > 2 else "{}"))
