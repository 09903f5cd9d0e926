"""Many trainings at once on one accelerator: seeds and step sizes are an axis.

    python benchmarks/gpu.py                 the whole table (minutes; where there is no GPU it
                                             says so in one line and shrinks to what a CPU can do)
    python benchmarks/gpu.py --tiny          the smallest sizes, to see that it works
    python benchmarks/gpu.py --only solve    1,024 seeds of CartPole to the end

Writes benchmarks/gpu.json: environment steps a second with learning against environments and
seeds, and for each of these what share of the card's arithmetic and of its memory's bandwidth the
program uses by the compiler's own count (the roofline).
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from contestants import cartpole_config

from crisptree import soft
from crisptree.envs.cartpole import CartPole
from crisptree.envs.wildfire.env import Wildfire
from crisptree.envs.zerglings.env import FindAndDefeatZerglings
from crisptree.learn import ppo
from crisptree.learn.collect import collect, fresh_envs
from crisptree.learn.config import PPOConfig
from crisptree.learn.traced_config import for_seeds

DOMAINS: dict[str, Any] = {
    "cartpole": CartPole(),
    "wildfire": Wildfire(),
    "zerglings": FindAndDefeatZerglings(),
}
PEAKS = {"H200": (67e12, 4.8e12), "H100": (67e12, 3.35e12), "A100": (19.5e12, 2.0e12)}
"""float32 operations and bytes a second that the makers state, without tensor cores."""
QUICK_TO_COMPILE = (
    "--xla_gpu_autotune_level=0 --xla_gpu_enable_triton_gemm=false "
    "--xla_backend_optimization_level=1"
)


@dataclass(frozen=True)
class Size:
    n_envs: int
    n_seeds: int


MOST_ENVIRONMENTS = {"cartpole": 2**22, "wildfire": 2**20, "zerglings": 2**15}
"""Environments of all seeds together whose rollouts fit the card's memory."""


def sizes(domain: str, tiny: bool, has_gpu: bool) -> list[Size]:
    if tiny:
        return [Size(4, 2)]
    if not has_gpu:
        return [Size(64, 1), Size(64, 8)]
    grid = [Size(n, s) for s in (1, 32, 1024) for n in (64, 512, 4096)]
    return [size for size in grid if size.n_envs * size.n_seeds <= MOST_ENVIRONMENTS[domain]]


def states_of(env: Any, config: PPOConfig, n_seeds: int, n_updates: int) -> tuple[Any, PPOConfig]:
    """Learners side by side, and step sizes from a tenth of the configuration's to the whole."""

    def one(key):
        for_tree, for_learner = jax.random.split(key)
        tree = soft.SoftTree.random(
            soft.balanced(8), env.n_features, len(env.actions.names), key=for_tree
        )
        return ppo.init(tree, env.n_features, config, n_updates, key=for_learner)

    states = eqx.filter_jit(eqx.filter_vmap(one))(jax.random.split(jax.random.key(0), n_seeds))
    rates = config.learning_rate * jnp.logspace(-1, 0, n_seeds)
    configs = for_seeds(config, n_seeds)
    return states, eqx.tree_at(lambda c: c.learning_rate, configs, rates)


def training(env: Any, n_updates: int):
    """Every seed's whole training with its own step size, as one program."""

    def one(state, config):
        dynamic, static = eqx.partition(state, eqx.is_array)

        def update(carry, _):
            state, envs = eqx.combine(carry[0], static), carry[1]
            envs, trajectory = collect(state, envs, env, config)
            state, metrics = ppo.update(state, trajectory, config)
            return (eqx.filter(state, eqx.is_array), envs), metrics

        start = (dynamic, fresh_envs(env, config.n_envs, state.key))
        (dynamic, _), metrics = jax.lax.scan(update, start, length=n_updates)
        return eqx.combine(dynamic, static), metrics

    return eqx.filter_jit(eqx.filter_vmap(one))


def work_of(env: Any, config: PPOConfig, states: Any) -> tuple[float, float]:
    """Operations and bytes of one update of all seeds, by the compiler's count.

    The compiler counts the body of a loop once, however often it runs. So the parts are counted
    one by one and added up: steps of the environments, values of what they met, gradients.
    """
    one_step = replace(config, n_steps=1, n_minibatches=1)
    all_rows = replace(config, n_epochs=1, n_minibatches=1)
    envs = eqx.filter_vmap(lambda state: fresh_envs(env, config.n_envs, state.key))(states)

    def stepped(state, envs):
        return collect(state, envs, env, one_step)

    def played(state, envs):
        return collect(state, envs, env, config)[1]

    def valued(state, trajectory):
        rows = trajectory.observation
        return state.values(rows.reshape(-1, rows.shape[-1]))

    def updated(state, trajectory):
        return ppo.update(state, trajectory, all_rows)

    trajectories = eqx.filter_jit(eqx.filter_vmap(played))(states, envs)
    step, values, epoch = (
        _counted(function, states, other)
        for function, other in ((stepped, envs), (valued, trajectories), (updated, trajectories))
    )
    # `epoch` holds two passes of values and one of gradients.
    return tuple(
        config.n_steps * s + 2 * v + config.n_epochs * (e - 2 * v)
        for s, v, e in zip(step, values, epoch, strict=True)
    )


def _counted(function: Callable, *arguments: Any) -> tuple[float, float]:
    compiled = eqx.filter_jit(eqx.filter_vmap(function)).lower(*arguments).compile()
    cost = getattr(compiled, "compiled", compiled).cost_analysis() or {}
    cost = cost[0] if isinstance(cost, list) else cost
    return float(cost.get("flops", 0)), float(cost.get("bytes accessed", 0))


def roofline(domain: str, size: Size, steps_per_second: float) -> dict[str, Any]:
    """What share of the card's arithmetic and of its bandwidth the training uses."""
    config = config_of(size)
    kind = jax.devices()[0].device_kind
    peak = next((peak for name, peak in PEAKS.items() if name in kind), None)
    if peak is None:
        return {}
    states, _ = states_of(DOMAINS[domain], config, size.n_seeds, 8)
    work = work_of(DOMAINS[domain], config, states)
    seconds = size.n_seeds * config.steps_per_update / steps_per_second
    arithmetic, bandwidth = (done / seconds / most for done, most in zip(work, peak, strict=True))
    limit = "arithmetic" if arithmetic > bandwidth else "memory"
    return {
        "flops_per_step": round(work[0] / size.n_seeds / config.steps_per_update),
        "bytes_per_step": round(work[1] / size.n_seeds / config.steps_per_update),
        "share_of_arithmetic": round(arithmetic, 4),
        "share_of_bandwidth": round(bandwidth, 4),
        "limited_by": limit if max(arithmetic, bandwidth) > 0.3 else "launching small kernels",
    }


def config_of(size: Size) -> PPOConfig:
    return replace(cartpole_config(), n_envs=size.n_envs)


def measured(domain: str, size: Size, n_updates: int) -> dict[str, Any]:
    env, config = DOMAINS[domain], config_of(size)
    states, configs = states_of(env, config, size.n_seeds, n_updates)
    began = time.perf_counter()
    compiled = training(env, n_updates).lower(states, configs).compile()
    compiling = time.perf_counter() - began
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        _, metrics = compiled(states, configs)
        jax.block_until_ready(metrics)
        seconds.append(time.perf_counter() - began)
    steps = size.n_seeds * n_updates * config.steps_per_update
    memory = jax.devices()[0].memory_stats() or {}
    return {
        "domain": domain,
        "environments": size.n_envs,
        "seeds": size.n_seeds,
        "steps_per_second": round(steps / min(seconds)),
        "compile_seconds": round(compiling, 1),
        "peak_mb": round(memory.get("peak_bytes_in_use", 0) / 2**20),
        "device": jax.devices()[0].device_kind,
    }


def solved(n_seeds: int, steps: int) -> dict[str, Any]:
    """Seeds of CartPole, 8 leaves, to the end: the share at 475 or more, and the whole time."""
    # Many short updates: a seed has few environments where there are a thousand seeds.
    config, env = replace(cartpole_config(), n_envs=32, n_epochs=4), DOMAINS["cartpole"]
    n_updates = max(1, steps // config.steps_per_update)
    jax.block_until_ready(jnp.zeros(1) + 1)  # the card is up
    began = time.perf_counter()
    # The first weights are drawn on the CPU, whose compiler is quicker with small programs.
    with jax.default_device(jax.devices("cpu")[0]):
        states, _ = states_of(env, config, n_seeds, n_updates)
    states = jax.device_put(states, jax.devices()[0])
    configs = for_seeds(config, n_seeds)
    created = time.perf_counter()
    program = training(env, n_updates).lower(states, configs).compile()
    compiled = time.perf_counter()
    _, metrics = program(states, configs)
    last = jnp.nanmean(metrics["return"][:, -6:], axis=1).block_until_ready()
    ended = time.perf_counter()
    return {
        "domain": "cartpole, to the end",
        "seeds": n_seeds,
        "steps": n_updates * config.steps_per_update,
        "seconds": round(ended - began, 2),
        "drawing_weights": round(created - began, 2),
        "compiling": round(compiled - created, 2),
        "training": round(ended - compiled, 2),
        "share_at_475": round(float((last >= 475).mean()), 3),
    }


def solved_apart(tiny: bool, has_gpu: bool) -> dict[str, Any]:
    """`solved` in a process of its own, whose compiler is told not to try out variants."""
    code = f"import json, gpu; print(json.dumps(gpu.solved({2 if tiny or not has_gpu else 1024}, "
    code += f"{20_000 if tiny else 250_000})))"
    flags = {"XLA_FLAGS": QUICK_TO_COMPILE} if has_gpu else {}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **flags},
        cwd=Path(__file__).parent,
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--tiny", action="store_true", help="the smallest sizes")
    parser.add_argument("--only", choices=[*DOMAINS, "solve"])
    chosen = parser.parse_args()
    found = []
    if chosen.only in (None, "solve"):  # first: this process has not taken the card's memory yet
        found.append(solved_apart(chosen.tiny, shutil.which("nvidia-smi") is not None))
        print(found[-1], flush=True)
    has_gpu = jax.default_backend() == "gpu"
    if not has_gpu:
        print("no GPU here: these are figures of the CPU, in sizes that it can do")
    for domain in DOMAINS:
        if chosen.only not in (None, domain):
            continue
        rows = []
        for size in sizes(domain, chosen.tiny, has_gpu):
            rows.append(measured(domain, size, 1 if chosen.tiny else 8))
            print(rows[-1], flush=True)
        best = max(rows, key=lambda row: row["steps_per_second"])
        size = Size(best["environments"], best["seeds"])
        best |= roofline(domain, size, best["steps_per_second"])
        print(best, flush=True)
        found += rows
        if has_gpu:
            path = Path(__file__).parent / "gpu.json"
            path.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
