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
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from crisptree import soft
from crisptree.envs.registry import functional_env
from crisptree.learn.agent import create
from crisptree.learn.compiled import train
from crisptree.learn.config import Learning
from crisptree.learn.rates import Rates, rates_of
from crisptree.pipeline.recipe import recipe_for

DOMAINS = {
    "cartpole": "CartPole-v1",
    "wildfire": "crisptree/Wildfire-v0",
    "zerglings": "crisptree/Zerglings-v0",
}
PEAKS = {"H200": (67e12, 4.8e12), "H100": (67e12, 3.35e12), "A100": (19.5e12, 2.0e12)}
"""float32 operations and bytes a second that the makers state, without tensor cores."""


@dataclass(frozen=True)
class Size:
    n_envs: int
    n_seeds: int


def sizes(tiny: bool, has_gpu: bool) -> list[Size]:
    if tiny:
        return [Size(4, 2)]
    if not has_gpu:
        return [Size(64, 1), Size(64, 8)]
    return [Size(n, s) for n in (64, 256, 1024, 4096) for s in (1, 16, 256, 1024)]


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


def roofline(compiled: Any, seconds: float) -> dict[str, Any]:
    """The compiler's count of operations and bytes, over what the card could do in the time."""
    cost = compiled.cost_analysis() or {}
    cost = cost[0] if isinstance(cost, list) else cost
    flops, moved = float(cost.get("flops", 0)), float(cost.get("bytes accessed", 0))
    kind = jax.devices()[0].device_kind
    peak = next((peak for name, peak in PEAKS.items() if name in kind), None)
    if peak is None or not flops:
        return {"device": kind}
    shares = flops / seconds / peak[0], moved / seconds / peak[1]
    limit = (
        "launching small kernels"
        if max(shares) < 0.3
        else ("arithmetic", "memory")[int(shares[1] > shares[0])]
    )
    return {
        "device": kind,
        "share_of_arithmetic": round(shares[0], 4),
        "share_of_bandwidth": round(shares[1], 4),
        "limited_by": limit,
    }


def measured(domain: str, size: Size, n_updates: int) -> dict[str, Any]:
    env_id = DOMAINS[domain]
    base = recipe_for(env_id).soft
    config = replace(base, n_envs=size.n_envs, n_steps=64, minibatches=4, epochs=2)
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
        **roofline(getattr(compiled, "compiled", compiled), min(seconds)),
    }


def solved(n_seeds: int, steps: int) -> dict[str, Any]:
    """Seeds of CartPole, 8 leaves, to the end: the share at 475 or more, and the whole time."""
    config = recipe_for("CartPole-v1").soft
    n_updates = max(1, steps // config.steps_per_update)
    began = time.perf_counter()
    agents, rates = agents_of("CartPole-v1", config, n_seeds, n_updates)
    rates = rates._replace(actor=jnp.full(n_seeds, config.learning_rate))
    _, metrics = training("CartPole-v1", config, n_updates)(agents, rates)
    last = jnp.nanmean(metrics["return"][:, -3:], axis=1).block_until_ready()
    return {
        "domain": "cartpole, to the end",
        "seeds": n_seeds,
        "steps": n_updates * config.steps_per_update,
        "seconds": round(time.perf_counter() - began, 2),
        "share_at_475": round(float((last >= 475).mean()), 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--tiny", action="store_true", help="the smallest sizes")
    parser.add_argument("--only", choices=[*DOMAINS, "solve"])
    chosen = parser.parse_args()
    has_gpu = jax.default_backend() == "gpu"
    if not has_gpu:
        print("no GPU here: these are figures of the CPU, in sizes that it can do")
    found = []
    if chosen.only in (None, "solve"):
        n_seeds, steps = (1024, 250_000) if has_gpu else (2, 250_000)
        found.append(solved(*(2, 20_000) if chosen.tiny else (n_seeds, steps)))
        print(found[-1], flush=True)
    for domain in DOMAINS:
        if chosen.only not in (None, domain):
            continue
        for size in sizes(chosen.tiny, has_gpu):
            found.append(measured(domain, size, 1 if chosen.tiny else 8))
            print(found[-1], flush=True)
    path = Path(__file__).parent / "gpu.json"
    if has_gpu:
        path.write_text(json.dumps(found, indent=2) + "\n")
        print(f"written: {path}")


if __name__ == "__main__":
    main()
