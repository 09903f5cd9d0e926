"""The two multi-agent domains: environment steps a second, and what scripted policies earn.

A step is one of the whole team's. Random actions, no learning; medians over repeats, compile time
apart. `python benchmarks/domains.py` prints both tables.
"""

import statistics
import time
from typing import Any

import jax
import jax.numpy as jnp

from crisptree.envs import scripted
from crisptree.envs.functional import FunctionalEnv
from crisptree.envs.wildfire.env import Wildfire
from crisptree.envs.zerglings.env import FindAndDefeatZerglings

REPEATS = 5
N_ENVS = 2048
N_STEPS = 100
EPISODES = 300


def steps_per_second(env: FunctionalEnv) -> float:
    """Of `N_ENVS` environments in one program."""

    @jax.jit
    def run(key, states):
        def step(states, key):
            for_actions, for_steps = jax.random.split(key)
            n_actions = len(env.actions.names)
            actions = jax.random.randint(for_actions, (N_ENVS, env.n_agents), 0, n_actions)
            at = jax.vmap(env.step)(jax.random.split(for_steps, N_ENVS), states, actions)
            return at.state, at.reward.sum() + at.observation.sum()

        return jax.lax.scan(step, states, jax.random.split(key, N_STEPS))

    states, _ = jax.jit(jax.vmap(env.reset))(jax.random.split(jax.random.key(0), N_ENVS))
    jax.block_until_ready(run(jax.random.key(1), states))
    rates = []
    for repeat in range(REPEATS):
        began = time.perf_counter()
        jax.block_until_ready(run(jax.random.key(repeat), states))
        rates.append(N_ENVS * N_STEPS / (time.perf_counter() - began))
    return statistics.median(rates)


def rows(quick: bool = False) -> list[dict[str, Any]]:
    found = []
    for name, env in (("wildfire", Wildfire()), ("zerglings", FindAndDefeatZerglings())):
        found.append({"name": f"{name}, environment steps/s", "ours": round(steps_per_second(env))})
    return found


def calibration() -> list[tuple[str, str, float, float, float]]:
    """Domain, policy, mean, standard deviation and maximum of 300 episodes."""
    found = []
    for name, env, policies, steps in (
        ("wildfire", Wildfire(), scripted.WILDFIRE, 120),
        ("zerglings", FindAndDefeatZerglings(), scripted.ZERGLINGS, 360),
    ):
        for policy, act in policies.items():
            key = jax.random.key(0)
            earned = scripted.returns(env, act, key, episodes=EPISODES, steps=steps)
            figures = (jnp.mean(earned), jnp.std(earned), jnp.max(earned))
            found.append((name, policy, *(float(value) for value in figures)))
    return found


if __name__ == "__main__":
    for row in rows():
        print(f"{row['name']:<36} {row['ours']:>12,}")
    print(f"\n{'scripted policy':<36} {'mean':>8} {'sd':>8} {'max':>8}")
    for name, policy, *figures in calibration():
        print(f"{name + ': ' + policy:<36}", *(f"{value:8.1f}" for value in figures))
