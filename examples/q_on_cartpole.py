"""Does the choice of learner show in a tree? Curves and figures of three trainings on CartPole.

crisptree train CartPole-v1 --paper --leaves 8 --seeds 5 --out runs/ppo-tree
crisptree train CartPole-v1 --paper --leaves 8 --seeds 5 --paper.algorithm q --out runs/dqn-tree
crisptree train CartPole-v1 --mlp 2 --seeds 5 --paper.algorithm q --out runs/dqn-mlp
python examples/q_on_cartpole.py runs docs/images/q-on-cartpole.svg
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import jax
import matplotlib
import numpy as np
from matplotlib.figure import Figure

from crisptree import soft
from crisptree.envs.seeds import episode_seeds
from crisptree.envs.task import task_of
from crisptree.learn import checkpoint
from crisptree.learn.moments import Moments
from crisptree.pipeline import config_io
from crisptree.pipeline.paper import fresh_learner

RUNS = {
    "ppo-tree": ("Tree of 8 leaves, PPO", "#D55E00"),
    "dqn-tree": ("Tree of 8 leaves, DQN", "#0072B2"),
    "dqn-mlp": ("MLP, 2 hidden layers, DQN", "#009E73"),
}
BIN = 20_000
"""Steps whose episodes are averaged into one point of a curve."""
EPISODES = 5


def curve(run: Path, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Steps, and the mean return of the episodes that ended near them (NaN where none did)."""
    records = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    own = [record for record in records if record["start"] == seed]
    bins = np.array([record["step"] // BIN for record in own])
    episodes = np.array([record["episodes"] for record in own])
    totals = np.array([(record["return"] or 0.0) * record["episodes"] for record in own])
    counts = np.bincount(bins, episodes)
    means = np.bincount(bins, totals) / np.where(counts > 0, counts, np.nan)
    return (np.arange(len(means)) + 0.5) * BIN, means


def draw(runs: Path, out: Path) -> None:
    style: dict[Any, Any] = {
        "svg.hashsalt": "crisptree",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "font.size": 9,
    }
    with matplotlib.rc_context(style):
        figure = Figure(figsize=(9, 2.9), layout="constrained")
        panels = figure.subplots(1, 3, sharey=True)
        for axes, (name, (title, colour)) in zip(panels, RUNS.items(), strict=True):
            seeds = json.loads((runs / name / "summary.json").read_text())["seeds"]
            curves = [curve(runs / name, seed) for seed in range(len(seeds))]
            for steps, means in curves:
                axes.plot(steps / 1e6, means, color=colour, alpha=0.35, lw=0.9)
            middle = np.nanmedian(np.stack([means for _, means in curves]), 0)
            axes.plot(curves[0][0] / 1e6, middle, color=colour, lw=2)
            axes.set(title=title, xlabel="million steps", xlim=(0, 1), ylim=(0, 515))
            axes.axhline(475, color="#666666", lw=0.7, ls=(0, (4, 3)))
        panels[0].set_ylabel("return while learning")
        figure.savefig(out, metadata={"Date": None})


def trees(runs: Path, name: str) -> Iterator[tuple[soft.SoftTree, Moments]]:
    """The soft tree of every seed, and how it standardises observations."""
    config, task = config_io.load(runs / name / "config.json"), task_of("CartPole-v1")
    like = fresh_learner(config, task, config.seed)
    for path in sorted((runs / name).glob("seed-*/soft/learner.eqx")):
        learner = checkpoint.load(path, like)
        yield learner.actor, learner.observations


def agreement(tree: soft.SoftTree, moments: Moments, learns_q: bool) -> float:
    """Share of the visited states in which the likeliest leaf alone would act as the tree does."""

    @jax.jit
    def actions(observation):
        x = moments.standardize(observation)
        own = (tree.q_values if learns_q else tree.log_policy)(x).argmax()
        return own, tree.leaves[tree.leaf_probabilities(x).argmax()].argmax()

    env, agreed = gymnasium.make("CartPole-v1"), []
    for seed in episode_seeds("reporting", 0, EPISODES):
        observation, _ = env.reset(seed=seed)
        over = False
        while not over:
            own, leaf = map(int, actions(observation))
            agreed.append(own == leaf)
            observation, _, terminated, truncated, _ = env.step(own)
            over = terminated or truncated
    return float(np.mean(agreed))


def main(runs: Path, out: Path) -> None:
    draw(runs, out)
    print("| learner | soft, 100 unseen episodes | made crisp by argmax | likeliest leaf agrees |")
    print("|---|---|---|---|")
    for name, (title, _) in RUNS.items():
        summary = json.loads((runs / name / "summary.json").read_text())
        cells = [
            ", ".join(f"{value:.1f}" for value in summary[key]["every"]) if key in summary else "–"
            for key in ("soft_return", "crisp_return")
        ]
        shares = (
            []
            if name == "dqn-mlp"
            else [
                agreement(tree, moments, name == "dqn-tree") for tree, moments in trees(runs, name)
            ]
        )
        print(f"| {title} | {' | '.join(cells)} | {', '.join(f'{s:.0%}' for s in shares) or '–'} |")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
