"""How cost grows with leaves, features, environments and seeds: steps a second, and memory.

    python benchmarks/scaling.py [--quick]   measures, writes scaling.json and the figure
    python benchmarks/scaling.py --draw      draws the figure from scaling.json

PPO on CartPole with the recipe's settings but for what grows. Wider observations are CartPole's
four numbers over and over: nothing else about the task changes.
"""

import argparse
import json
import statistics
import tempfile
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

    from crisptree import soft
    from crisptree.base.processes import cores
    from crisptree.envs.cartpole import CartPole
    from crisptree.learn.compiled import advancing, opening
    from crisptree.learn.creation import beginning_with
    from crisptree.learn.rates import rates_of, shape_of
    from crisptree.learn.session import compiled_segment, side_by_side
    from crisptree.pipeline.recipe import CARTPOLE

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

    env, config = Wide(), replace(CARTPOLE.soft, n_envs=environments)
    actors = [
        soft.SoftTree.random(soft.balanced(leaves), features, 2, key=jax.random.key(seed))
        for seed in range(seeds)
    ]
    agents = beginning_with(actors, features, config, 1000, key=jax.random.key(0)).agents()
    updates = max(4, min(16, 400_000 // (config.steps_per_update * seeds)))
    part = side_by_side(agents)[0]
    scenes = jax.jit(jax.vmap(lambda key: opening(env, config, key)))(part.key)
    arguments = (part, scenes, jnp.asarray(updates), rates_of(config))
    began = time.perf_counter()
    program = advancing(env, shape_of(config), updates).compiled(*arguments)
    compiling = time.perf_counter() - began
    segment = compiled_segment(env, config, updates)
    segment(agents, updates)
    seconds = []
    for _ in range(5):
        began = time.perf_counter()
        segment(agents, updates)
        seconds.append(time.perf_counter() - began)
    memory: Any = program.memory_analysis()
    n_parts = len(side_by_side(agents))
    held = memory.temp_size_in_bytes * min(n_parts, cores())
    held += (memory.argument_size_in_bytes + memory.output_size_in_bytes) * n_parts
    steps = updates * seeds * config.steps_per_update
    return {
        "steps_per_second": round(steps / statistics.median(seconds)),
        "spread": [round(steps / max(seconds)), round(steps / min(seconds))],
        "memory_mb": round(held / 2**20, 2),
        "compile_seconds": round(compiling, 1),
    }


def measure(quick: bool) -> list[dict[str, Any]]:
    found = []
    for what, values in GROWING.items():
        for value in values[:: len(values) - 1] if quick else values:
            size = BASE | {what: value}
            found.append({"growing": what, **size, **measured(**size)})
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
    axes[1, 0].set_ylabel("memory of the program, MB")
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
        import jax

        with tempfile.TemporaryDirectory() as cache:  # what is measured ahead is not compiled twice
            jax.config.update("jax_compilation_cache_dir", cache)
            path.write_text(json.dumps(measure(chosen.quick), indent=1) + "\n")
    draw(json.loads(path.read_text()))


if __name__ == "__main__":
    main()
