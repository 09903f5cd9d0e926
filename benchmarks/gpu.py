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

from crisptree import soft
from crisptree.envs.registry import functional_env
from crisptree.learn.agent import create
from crisptree.learn.compiled import collect, opening, train
from crisptree.learn.config import Learning
from crisptree.learn.improve import improve
from crisptree.learn.rates import Rates, rates_of
from crisptree.pipeline.recipe import recipe_for

DOMAINS = {
    "cartpole": "CartPole-v1",
    "wildfire": "crisptree/Wildfire-v0",
    "zerglings": "crisptree/Zerglings-v0",
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


def agents_of(env_id: str, config: Learning, n_seeds: int, n_updates: int) -> tuple[Any, Rates]:
    """Seeds side by side, and step sizes from a tenth of the recipe's to the whole of it."""
    env = functional_env(env_id)

    def one(key):
        for_tree, for_agent = jax.random.split(key)
        tree = soft.SoftTree.random(soft.balanced(8), env.n_features, env.n_actions, key=for_tree)
        return create(tree, env.n_features, config, n_updates, key=for_agent)

    agents = eqx.filter_jit(eqx.filter_vmap(one))(jax.random.split(jax.random.key(0), n_seeds))
    rates = rates_of(config)
    assert rates is not None
    return agents, rates._replace(actor=rates.actor * jnp.logspace(-1, 0, n_seeds))


def training(env_id: str, config: Learning, n_updates: int):
    """Every seed's whole training with its own step size, as one program."""
    env = functional_env(env_id)
    rate_axes = Rates(*(None for _ in Rates._fields))._replace(actor=0)

    def one(agent, rates):
        return train(agent, env, config, n_updates, rates)

    return eqx.filter_jit(eqx.filter_vmap(one, in_axes=(eqx.if_array(0), rate_axes)))


def work_of(env_id: str, config: Learning, agents: Any, rates: Rates) -> tuple[float, float]:
    """Operations and bytes of one update of all seeds, by the compiler's count.

    The compiler counts the body of a loop once, however often it runs. So the parts are counted
    one by one and added up: steps of the environments, values of what they met, gradients.
    """
    env, one_step = functional_env(env_id), replace(config, n_steps=1, minibatches=1)
    all_rows = replace(config, epochs=1, minibatches=1)
    scenes = eqx.filter_vmap(lambda agent: opening(env, config, agent.key))(agents)

    def stepped(agent, scene):
        return collect(agent, scene, env, one_step, rates.gamma)

    def played(agent, scene):
        return collect(agent, scene, env, config, rates.gamma)[1]

    def valued(agent, rollout):
        rows = rollout.observation
        return agent.values(rows.reshape(-1, rows.shape[-1]))

    def improved(agent, rollout):
        return improve(agent, rollout, all_rows, rates._replace(actor=config.learning_rate))

    rollouts = eqx.filter_jit(eqx.filter_vmap(played))(agents, scenes)
    step, values, epoch = (
        _counted(function, agents, other)
        for function, other in ((stepped, scenes), (valued, rollouts), (improved, rollouts))
    )
    # `epoch` holds two passes of values and one of gradients.
    return tuple(
        config.n_steps * s + 2 * v + config.epochs * (e - 2 * v)
        for s, v, e in zip(step, values, epoch, strict=True)
    )


def _counted(function: Callable, *arguments: Any) -> tuple[float, float]:
    compiled = eqx.filter_jit(eqx.filter_vmap(function)).lower(*arguments).compile()
    cost = getattr(compiled, "compiled", compiled).cost_analysis() or {}
    cost = cost[0] if isinstance(cost, list) else cost
    return float(cost.get("flops", 0)), float(cost.get("bytes accessed", 0))


def roofline(domain: str, size: Size, steps_per_second: float) -> dict[str, Any]:
    """What share of the card's arithmetic and of its bandwidth the training uses."""
    config = config_of(domain, size)
    kind = jax.devices()[0].device_kind
    peak = next((peak for name, peak in PEAKS.items() if name in kind), None)
    if peak is None:
        return {}
    agents, rates = agents_of(DOMAINS[domain], config, size.n_seeds, 8)
    work = work_of(DOMAINS[domain], config, agents, rates)
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


def config_of(domain: str, size: Size) -> Learning:
    base = recipe_for(DOMAINS[domain]).soft
    return replace(base, n_envs=size.n_envs, n_steps=64, minibatches=4, epochs=2)


def measured(domain: str, size: Size, n_updates: int) -> dict[str, Any]:
    env_id, config = DOMAINS[domain], config_of(domain, size)
    agents, rates = agents_of(env_id, config, size.n_seeds, n_updates)
    began = time.perf_counter()
    compiled = training(env_id, config, n_updates).lower(agents, rates).compile()
    compiling = time.perf_counter() - began
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        _, metrics = compiled(agents, rates)
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
    config = replace(recipe_for("CartPole-v1").soft, n_envs=32, epochs=4)
    n_updates = max(1, steps // config.steps_per_update)
    jax.block_until_ready(jnp.zeros(1) + 1)  # the card is up
    began = time.perf_counter()
    # The first weights are drawn on the CPU, whose compiler is quicker with small programs.
    with jax.default_device(jax.devices("cpu")[0]):
        agents, rates = agents_of("CartPole-v1", config, n_seeds, n_updates)
    agents = jax.device_put(agents, jax.devices()[0])
    rates = rates._replace(actor=jnp.full(n_seeds, config.learning_rate))
    created = time.perf_counter()
    program = training("CartPole-v1", config, n_updates).lower(agents, rates).compile()
    compiled = time.perf_counter()
    _, metrics = program(agents, rates)
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
