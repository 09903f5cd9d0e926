"""The whole way by one call: train, make crisp, choose, score on unseen seeds, draw."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.base.files import write_atomically
from crisptree.base.processes import cores
from crisptree.crisp import CrispTree
from crisptree.envs.registry import is_functional
from crisptree.envs.score import play, random_return
from crisptree.envs.seeds import episode_seeds
from crisptree.envs.spaces import describe
from crisptree.pipeline import attempts
from crisptree.pipeline.budget import steps_within
from crisptree.pipeline.directory import RunDirectory
from crisptree.pipeline.paper import train_soft
from crisptree.pipeline.report import Reporter, Silent
from crisptree.pipeline.routes import route_for
from crisptree.pipeline.settings import MOST_STARTS, Settings
from crisptree.pipeline.starts import best_of, run_starts, start_of
from crisptree.pipeline.way import Arrived
from crisptree.show import as_svg


@dataclass(frozen=True)
class Trained:
    """What came out: the best tree (by selection episodes), and all figures."""

    tree: CrispTree | None
    summary: dict[str, Any]
    path: Path


def train(
    settings: Settings, out: Path, *, resume: bool = False, tell: Reporter | None = None
) -> Trained:
    """Run `settings` in the directory `out`; with `resume`, go on with what is there."""
    tell = Silent() if tell is None else tell
    describe(settings.env)
    if resume:
        directory, config = RunDirectory.resume(out)
        settings = Settings.from_dict(config["settings"])
    else:
        settings = settled(settings)
        config = {"settings": settings.to_dict(), "crisptree": version("crisptree")}
        directory = RunDirectory.create(out, {**config, "command": settings.command()})
    finished = directory.read_json("summary.json")
    if finished is not None:
        policy = out / "policy.json"
        return Trained(CrispTree.load(policy) if policy.exists() else None, finished, out)
    if settings.paper or settings.mlp is not None:
        return _finish_soft(settings, directory, tell)
    if settings.seeds == 1:
        return _one_seed(settings, settings.seed, directory, tell)
    return _many_seeds(settings, directory, tell)


def settled(settings: Settings) -> Settings:
    """Defaults that depend on the machine are written down, so that a resumed run keeps them."""
    compiled = is_functional(settings.env)
    if settings.starts is None:
        alone = compiled or settings.paper or settings.mlp is not None
        settings = replace(settings, starts=1 if alone else min(cores(), MOST_STARTS))
    if settings.undecided and (compiled or settings.starts == 1):
        route = route_for(settings.env)
        is_direct = route == "direct"
        settings = replace(settings, direct=is_direct, teacher=None if is_direct else route)
    if settings.budget is not None:
        settings = replace(settings, steps=steps_within(settings), budget=None)
    return settings


def _many_seeds(settings: Settings, directory: RunDirectory, tell: Reporter) -> Trained:
    every = []
    for seed in range(settings.seed, settings.seed + settings.seeds):
        tell.note(f"seed {seed}")
        folder = RunDirectory(directory.folder(f"seed-{seed}"))
        done = folder.read_json("summary.json")
        if done is None:
            done = _one_seed(replace(settings, seed=seed, seeds=1), seed, folder, tell).summary
        every.append(done)
    return _gathered(settings, directory, every)


def _gathered(
    settings: Settings, directory: RunDirectory, every: Sequence[dict[str, Any]]
) -> Trained:
    """Every seed's figures; the policy at the top is the best by selection, not by report."""
    summary = {
        "env": settings.env,
        "command": settings.command(),
        "seeds": [each["seed"] for each in every],
        "seconds": round(sum(each["seconds"] for each in every), 2),
    }
    for name in ("soft_return", "crisp_return", "gap", "leaves"):
        values = [each[name] for each in every if each.get(name) is not None]
        if values:
            spread = float(np.std(values, ddof=1)) if len(values) > 1 else None
            summary[name] = {"mean": float(np.mean(values)), "sd": spread, "every": values}
    tree = None
    scored = [each for each in every if each.get("selection_return") is not None]
    if scored:
        best = max(scored, key=lambda each: each["selection_return"])
        tree = CrispTree.load(directory.path / f"seed-{best['seed']}" / "policy.json")
        summary["policy_of_seed"] = best["seed"]
        _publish(directory, tree)
    summary["runs"] = list(every)
    directory.write_json("summary.json", summary)
    return Trained(tree, summary, directory.path)


def _one_seed(settings: Settings, seed: int, directory: RunDirectory, tell: Reporter) -> Trained:
    began = time.monotonic()
    assert settings.starts is not None
    if settings.starts == 1:
        every, best = attempts.go(settings, seed, directory, tell)
    else:
        every = run_starts(settings, seed, directory, tell)
        best = best_of(every, settings.env, seed, settings.starts)
    return _report(settings, seed, directory, tell, every, best, began)


def _report(
    settings: Settings,
    seed: int,
    directory: RunDirectory,
    tell: Reporter,
    every: Sequence[Arrived],
    best: int,
    began: float,
) -> Trained:
    """Score on reporting episodes, write the summary, the policy and the drawing."""
    arrived = every[best]
    tell.advance("scoring", 0.0, f"{settings.episodes} unseen episodes")
    returns = play(arrived.tree, settings.env, episode_seeds("reporting", seed, settings.episodes))
    figures = scored(returns, settings.env, seed)
    trained = [r for r in arrived.records if r.get("training_return") is not None]
    in_training = trained[-1]["training_return"] if trained else None
    summary = {
        "env": settings.env,
        "seed": seed,
        "soft_return": in_training,
        **figures,
        **gap(in_training, figures),
        "selection_return": arrived.selection_return,
        "leaves": arrived.tree.n_leaves,
        "depth": arrived.tree.depth,
        "steps": sum(r.get("steps", 0) for each in every for r in each.records),
        "seconds": round(sum(r["seconds"] for r in arrived.records), 2),
        "wall_seconds": round(time.monotonic() - began, 2),
        "starts": len(every),
        "start": best,
        "route": start_of(settings, best)[0].route,
        "command": settings.command(),
        "stages": list(arrived.records),
    }
    if settings.start_from is not None:
        summary["changes"] = _changes(settings, arrived)
    tree = replace(arrived.tree, training={"command": settings.command(), **figures})
    _publish(directory, tree)
    directory.write_json("summary.json", summary)  # last: with it the run is done
    return Trained(tree, summary, directory.path)


def scored(returns: np.ndarray, env_id: str, seed: int) -> dict[str, Any]:
    """The crisp return with its standard error, beside what random actions earn."""
    return {
        "crisp_return": float(returns.mean()),
        "crisp_return_se": float(returns.std(ddof=1) / np.sqrt(len(returns)))
        if len(returns) > 1
        else None,
        "crisp_return_min": float(returns.min()),
        "episodes": len(returns),
        "random_return": random_return(env_id, seed),
    }


def gap(soft_return: float | None, figures: dict[str, Any]) -> dict[str, Any]:
    """What was lost on the way to crisp, plain and as a share of the range random to soft."""
    if soft_return is None:
        return {"gap": None, "gap_share": None}
    lost = soft_return - figures["crisp_return"]
    span = max(soft_return, figures["crisp_return"]) - figures["random_return"]
    return {"gap": lost, "gap_share": lost / span if span > 0 else None}


def _publish(directory: RunDirectory, tree: CrispTree) -> None:
    tree.save(directory.path / "policy.json")
    write_atomically(directory.path / "policy.svg", as_svg(tree))


def _changes(settings: Settings, arrived: Arrived) -> dict[str, Any]:
    """What became of the expert's tree."""
    from crisptree.crispen.expert import changes, read_expert

    assert settings.start_from is not None
    expert = read_expert(settings.start_from, describe(settings.env))
    return changes(expert, arrived.tree, settings.env)


def _finish_soft(settings: Settings, directory: RunDirectory, tell: Reporter) -> Trained:
    """The paper's way, or an MLP: all seeds at once, each with its own folder if several."""
    began = time.monotonic()
    every = []
    for result in train_soft(settings, directory, tell):
        soft_returns = play(
            result.policy, settings.env, episode_seeds("reporting", result.seed, settings.episodes)
        )
        summary: dict[str, Any] = {
            "env": settings.env,
            "seed": result.seed,
            "soft_return": float(soft_returns.mean()),
            "soft_return_min": float(soft_returns.min()),
            "episodes": settings.episodes,
            "steps": result.steps,
            "seconds": result.seconds,
            "command": settings.command(),
        }
        folder = directory
        if settings.seeds > 1:
            folder = RunDirectory(directory.folder(f"seed-{result.seed}"))
        if result.tree is not None:
            tree = result.tree.simplify()
            returns = play(
                tree, settings.env, episode_seeds("reporting", result.seed, settings.episodes)
            )
            figures = scored(returns, settings.env, result.seed)
            summary |= {**figures, **gap(summary["soft_return"], figures)}
            summary |= {
                "leaves": tree.n_leaves,
                "depth": tree.depth,
                "leaves_before_simplifying": result.tree.n_leaves,
                "selection_return": result.selection_return,
            }
            made = {"command": settings.command(), **figures}
            _publish(folder, replace(tree, training=made))
        if settings.seeds > 1:
            folder.write_json("summary.json", summary)
        every.append(summary)
    if settings.seeds > 1:
        return _gathered(settings, directory, every)
    summary = {**every[0], "wall_seconds": round(time.monotonic() - began, 2)}
    directory.write_json("summary.json", summary)
    policy = directory.path / "policy.json"
    return Trained(CrispTree.load(policy) if policy.exists() else None, summary, directory.path)


def first_free(env_id: str) -> Path:
    """runs/ENV, or runs/ENV-2, … where that is taken."""
    name = env_id.replace(":", "-").replace("/", "-")
    for number in range(1, 10_000):
        path = Path("runs") / (name if number == 1 else f"{name}-{number}")
        if not path.exists():
            return path
    raise CrisptreeError("runs/ is full of runs of this environment: give --out DIR")
