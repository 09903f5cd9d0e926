"""How cost grows with leaves, features, environments and seeds: steps a second, and memory.

    python benchmarks/scaling.py [--quick]   measures, writes scaling.json and the figure
    python benchmarks/scaling.py --draw      draws the figure from scaling.json

PPO on CartPole with the recipe's settings but for what grows. Wider observations are CartPole's
four numbers over and over: nothing else about the task changes.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FIGURE = HERE.parent / "docs" / "images" / "cost-growth.svg"
BASE = {"leaves": 8, "features": 4, "environments": 256, "seeds": 1}
GROWING = {
    "leaves": (2, 4, 8, 16, 32, 64, 128, 256),
    "features": (4, 16, 64, 256, 1000),
    "environments": (16, 64, 256, 1024, 4096),
    "seeds": (1, 2, 4, 8, 16, 32),
}
COLOURS = {"rate": "#0072B2", "memory": "#D55E00"}


def measured(leaves: int, features: int, environments: int, seeds: int) -> dict[str, Any]:
    import jax
    import jax.numpy as jnp
    from contestants import cartpole_config

    from crisptree import soft
    from crisptree.envs.cartpole import CartPole
    from crisptree.learn import ppo
    from crisptree.learn.seed_pool import SeedPool
    from crisptree.learn.stacks import stack
    from crisptree.learn.trainer import CompiledRunner

    @dataclass(frozen=True)
    class Wide(CartPole):
        n_features: int = features

        def _wide(self, seen):
            return jnp.tile(seen, -(-self.n_features // 4))[: self.n_features]

        def reset(self, key):
            state, seen = super().reset(key)
            return state, self._wide(seen)

        def step(self, key, state, action):
            at = super().step(key, state, action)
            return at._replace(observation=self._wide(at.observation))

    env, config = Wide(), replace(cartpole_config(), n_envs=environments)

    def fresh(seed: int):
        tree = soft.SoftTree.random(soft.balanced(leaves), features, 2, key=jax.random.key(seed))
        return ppo.init(tree, features, config, 100_000, key=jax.random.key(seed))

    states = stack([fresh(seed) for seed in range(seeds)])
    updates = max(4, min(16, 400_000 // (config.steps_per_update * seeds)))
    runner = CompiledRunner(env, config, SeedPool(seeds), updates)
    runner.restart(states, 0)
    began = time.perf_counter()
    runner.advance(states, updates)
    first = time.perf_counter() - began
    seconds = []
    for _ in range(5):
        began = time.perf_counter()
        runner.advance(states, updates)
        seconds.append(time.perf_counter() - began)
    runner.close()
    steps = updates * seeds * config.steps_per_update
    return {
        "steps_per_second": round(steps / statistics.median(seconds)),
        "spread": [round(steps / max(seconds)), round(steps / min(seconds))],
        "memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "compile_seconds": round(max(0.0, first - statistics.median(seconds)), 1),
    }


def measured_apart(**size: int) -> dict[str, Any]:
    """`measured` in a process of its own, whose memory is that of this size alone."""
    code = f"import json, scaling; print(json.dumps(scaling.measured(**{size!r})))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=HERE, stdout=subprocess.PIPE, check=True, text=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def measure(quick: bool) -> list[dict[str, Any]]:
    found = []
    for what, values in GROWING.items():
        for value in values[:: len(values) - 1] if quick else values:
            size = BASE | {what: value}
            found.append({"growing": what, **size, **measured_apart(**size)})
            print(found[-1], flush=True)
    return found


def draw(found: list[dict[str, Any]]) -> None:
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator

    plt.rcParams.update({"font.size": 9, "svg.hashsalt": "crisptree", "svg.fonttype": "none"})
    figure, axes = plt.subplots(2, len(GROWING), figsize=(11, 5), sharey="row")
    for column, what in enumerate(GROWING):
        of = [each for each in found if each["growing"] == what]
        x = [each[what] for each in of]
        rate, memory = axes[:, column]
        y = [each["steps_per_second"] for each in of]
        low, high = zip(*(each["spread"] for each in of), strict=True)
        rate.fill_between(x, low, high, color=COLOURS["rate"], alpha=0.2, linewidth=0)
        rate.plot(x, y, "o-", color=COLOURS["rate"], markersize=4)
        y = [each["memory_mb"] for each in of]
        memory.plot(x, y, "s-", color=COLOURS["memory"], markersize=4)
        memory.set_xlabel(what)
        for ax in (rate, memory):
            ax.set_xscale("log")
            ax.set_yscale("log")
            ax.grid(alpha=0.3)
            ax.set_xticks(x, [f"{value:,}" for value in x])
            ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            ax.yaxis.set_major_formatter("{x:,g}")
            ax.minorticks_off()
            ax.spines[["top", "right"]].set_visible(False)
    axes[0, 0].set_ylabel("environment steps/s,\nall seeds together")
    axes[1, 0].set_ylabel("memory of the process, MB")
    rest = ", ".join(f"{value} {what}" for what, value in BASE.items() if what != "seeds")
    figure.suptitle(f"PPO on CartPole with learning; else {rest}, 1 seed", fontsize=10)
    figure.tight_layout()
    figure.savefig(FIGURE, metadata={"Date": None})
    plt.close(figure)
    print(f"drawn: {FIGURE}")


def main() -> None:
    parser = argparse.ArgumentParser(description="How cost grows.")
    parser.add_argument("--quick", action="store_true", help="only the ends of each range")
    parser.add_argument("--draw", action="store_true", help="no measuring: draw scaling.json")
    chosen = parser.parse_args()
    path = HERE / "scaling.json"
    if not chosen.draw:
        path.write_text(json.dumps(measure(chosen.quick), indent=1) + "\n")
    draw(json.loads(path.read_text()))


if __name__ == "__main__":
    main()
