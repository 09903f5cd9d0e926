"""What the search on crisp trees finds in a given time: a thousand variants at once on an
accelerator, two dozen on a CPU.

    python benchmarks/search_gpu.py --seconds 60                      on a GPU: 1,024 variants
    JAX_PLATFORMS=cpu python benchmarks/search_gpu.py --seconds 600   on a CPU: 24 variants
    python benchmarks/search_gpu.py --seconds 5 --only cartpole       to see that it works

Every search begins with the same tree: random questions and actions on CartPole, the shipped tree
cut to a quarter of its leaves without a look at returns on wildfire and zerglings. There is no
gradient and no teacher here. The time for compiling counts. Prints one JSON object for each
environment, and appends it to the file given by --out: seconds and return of the tree after each
sweep that changed it, and the return on unseen episodes at the end.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np

from crisptree import CrispTree
from crisptree.crispen.config import SearchConfig
from crisptree.crispen.prune import prune_by_disagreement, visited_states
from crisptree.crispen.search import search
from crisptree.crispen.select import Selection
from crisptree.envs.compiled_rollout import is_accelerated
from crisptree.envs.policy import random_policy
from crisptree.envs.rollout import rollout
from crisptree.envs.seeds import block_seed
from crisptree.envs.task import Task, task_of
from crisptree.learn.compilation_cache import enable_compilation_cache

POLICIES = Path(__file__).parents[1] / "policies"
UNSEEN = 1000
STATES = 20_000


def random_tree(task: Task, leaves: int, seed: int) -> CrispTree:
    """A balanced tree that asks anything and does anything."""
    rng = np.random.default_rng(seed)
    states = visited_states(random_policy(task, seed), task, seed, most=STATES)

    def drawn(leaves: int) -> Any:
        if leaves == 1:
            return int(rng.integers(task.n_actions))
        feature = int(rng.integers(task.n_features))
        threshold = float(rng.choice(states[:, feature]))
        return feature, threshold, drawn(leaves - leaves // 2), drawn(leaves // 2)

    while True:
        tree = CrispTree.from_nested(drawn(leaves), **task.signature)
        if tree.simplify().n_leaves == leaves:
            return tree


def cut(policy: str, task: Task, leaves: int, seed: int) -> CrispTree:
    """A shipped tree with few leaves left: the least changing cuts, one after the other."""
    tree = CrispTree.load(POLICIES / policy)
    states = visited_states(tree, task, seed, most=STATES)
    return prune_by_disagreement(tree, leaves, states)


STARTS: dict[str, tuple[str, Callable[[Task, int], CrispTree]]] = {
    "cartpole": ("CartPole-v1", lambda task, seed: random_tree(task, 8, seed)),
    "wildfire": (
        "crisptree/Wildfire-v0",
        lambda task, seed: cut("wildfire-tree-32.json", task, 8, seed),
    ),
    "zerglings": (
        "crisptree/Zerglings-v0",
        lambda task, seed: cut("zerglings-tree-28.json", task, 7, seed),
    ),
}


def searched(name: str, seconds: float, width: int, seed: int) -> dict[str, Any]:
    """The record of one search."""
    env, start = STARTS[name]
    task = task_of(env)
    tree = start(task, seed)
    selection, rng = Selection(task, seed), np.random.default_rng(seed)
    began = time.monotonic()
    curve: list[dict[str, float]] = []
    seen = [tree.simplify()]

    def report(sweep: int, now: CrispTree) -> None:
        if now != seen[-1]:
            seen.append(now)
            curve.append({"sweep": sweep, "seconds": round(time.monotonic() - began, 1)})
        sweeps[0] = sweep

    sweeps = [0]
    # A sweep without a gain is no reason to end before the time is up.
    settings = SearchConfig(sweeps=400, width=width, patience=400)
    found = search(
        tree,
        settings,
        selection,
        lambda tree: visited_states(tree, task, seed, most=STATES),
        rng,
        report=report,
        is_late=lambda: time.monotonic() - began > seconds,
    )
    taken = time.monotonic() - began
    first = block_seed("reporting", UNSEEN, seed, 0)
    before, after = rollout([tree, found], task, range(first, first + UNSEEN), fast=True).returns
    return {
        "environment": env,
        "device": jax.devices()[0].device_kind,
        "width": width,
        "seed": seed,
        "leaves": found.n_leaves,
        "seconds": round(taken, 1),
        "sweeps": sweeps[0],
        "gains": len(curve),
        "curve": curve,
        "before": round(float(before.mean()), 2),
        "after": round(float(after.mean()), 2),
        "error": round(float(after.std() / UNSEEN**0.5), 2),
        "policy": found.to_dict(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Search crisp trees for a given time.")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--width", type=int, help="variants in a sweep")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", choices=STARTS, default=list(STARTS))
    parser.add_argument("--out", type=Path, help="a file of lines, one record each")
    asked = parser.parse_args()
    enable_compilation_cache()
    width = asked.width or (1024 if is_accelerated() else 24)
    for name in asked.only:
        record = searched(name, asked.seconds, width, asked.seed)
        shown = {key: value for key, value in record.items() if key not in ("policy", "curve")}
        print(json.dumps(shown), flush=True)
        if asked.out is not None:
            with asked.out.open("a") as file:
                file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
