"""The whole training by one call: learn, make crisp, choose, score on unseen seeds, draw."""

import math
import shutil
import time
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.base.files import write_atomically
from crisptree.crisp import CrispTree
from crisptree.crispen.derive import only_asked
from crisptree.crispen.pace import Pace
from crisptree.envs.evaluate import baseline_returns
from crisptree.envs.rollout import rollout
from crisptree.envs.seeds import episode_seeds
from crisptree.envs.task import Task
from crisptree.learn.exact_model import exact_model
from crisptree.pipeline.candidates import Finished, run_candidates
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.config_io import check_named, command, config_hash, from_dict, to_dict
from crisptree.pipeline.paper import SoftResult, train_soft
from crisptree.pipeline.progress import Prefixed, Reporter, Silent
from crisptree.pipeline.resolve import measure, resolve
from crisptree.pipeline.run_directory import RunDirectory
from crisptree.pipeline.summary import (
    BETTER,
    OPEN,
    about,
    gap,
    gathered,
    scored,
    teacher_return,
    what_to_try,
)
from crisptree.pipeline.timing import Measurement, TimeLeft
from crisptree.show import as_svg

LEAST_SECONDS = 5.0
"""Least seconds for unseen episodes if the time is up; episodes that have not ended are cut, and
counted."""
MOST_BASELINE_SECONDS, BASELINE_SHARE = 60.0, 0.25
"""Most seconds for baselines, and most of the share of the time left for scoring."""


@dataclass(frozen=True)
class Trained:
    """The result of a training: the best tree (by selection episodes), and all figures."""

    tree: CrispTree | None
    summary: dict[str, Any]
    path: Path

    def __repr__(self) -> str:
        return f"Trained({self.tree!r}, return={self.summary.get('crisp_return')}, {self.path})"


def train(
    config: TrainConfig,
    task: Task,
    out: Path,
    *,
    resume: bool = False,
    report: Reporter | None = None,
    reuse: Path | None = None,
) -> Trained:
    """Train as `config` says in the directory `out`; with `resume`, go on with what is there.

    `reuse` is a folder of finished stages that several runs share by their keys.
    """
    report = Silent() if report is None else report
    if resume:
        directory = RunDirectory.existing(out)
        config = resumed_config(directory, config, task)
        with directory.locked():
            return _run(config, task, directory, report, reuse)
    existed = out.exists()
    directory = RunDirectory.create(out)
    began = time.monotonic()
    with directory.locked():
        try:
            resolved, record = _resolved(config, task)
            directory.write_json("config.json", record)
            _announce(resolved, task, report)
            return _run(resolved, task, directory, report, reuse, began)
        except CrisptreeError:
            # A run that failed before its first stage was done must not block the next try; only
            # the owner of the lock may remove it.
            if not existed and not list(out.rglob("result.json")):
                shutil.rmtree(out, ignore_errors=True)
            raise


def resumed_config(directory: RunDirectory, asked: TrainConfig, task: Task) -> TrainConfig:
    """The configuration that a run was started with. Code that it names must be named by the
    caller."""
    record = directory.read_json("config.json")
    assert record is not None
    config = from_dict(TrainConfig, record.get("config"), f"{directory.path}/config.json")
    env = task.env_id or task.name
    if config.env.id != env:
        raise CrisptreeError(f"the run in {directory.path} is on '{config.env.id}', not '{env}'")
    named = (asked.env.features, asked.teacher.policy)
    check_named(config, named, directory.path / "config.json")
    return config


def _resolved(config: TrainConfig, task: Task) -> tuple[TrainConfig, dict[str, Any]]:
    """The configuration with nothing left open, and what config.json says of it."""
    env = replace(config.env, id=task.env_id or task.name, kwargs=dict(task.env_kwargs))
    measured = measure(task, config.seed)
    config = replace(config, env=env)
    resolved = resolve(config, task, measured)
    record = {
        "config": to_dict(resolved),
        "config_hash": config_hash(resolved),
        "command": command(config),
        "measured": asdict(measured),
        "crisptree": version("crisptree"),
    }
    return resolved, record


def _announce(config: TrainConfig, task: Task, report: Reporter) -> None:
    assert config.steps is not None
    minutes = "" if config.budget is None else f", at most {config.budget:g} minutes"
    seeds = "" if config.seeds == 1 else " a seed"
    report.note(
        f"training on {config.env.id}: up to {config.steps:,} steps{minutes}{seeds}"
        f" (config {config_hash(config)})"
    )
    left_out = getattr(task.encoder, "left_out", ())
    if left_out:
        text = ", ".join(left_out)
        report.note(f"the tree does not see the text in {text}; a features function could read it")


def _run(
    config: TrainConfig,
    task: Task,
    directory: RunDirectory,
    report: Reporter,
    reuse: Path | None,
    began: float | None = None,
) -> Trained:
    finished = directory.read_json("summary.json")
    if finished is not None:
        policy = directory.path / "policy.json"
        return Trained(
            CrispTree.load(policy) if policy.exists() else None, finished, directory.path
        )
    if config.is_soft:
        return _run_soft(config, task, directory, report)
    measured = _measured_in(directory)
    if config.seeds == 1:
        return _one_seed(config, task, directory, report, reuse, measured, began)
    every = []
    for seed in range(config.seed, config.seed + config.seeds):
        own = RunDirectory(directory.folder(f"seed-{seed}"))
        done = own.read_json("summary.json")
        if done is None:
            one = replace(config, seed=seed, seeds=1)
            said = Prefixed(report, f"seed {seed}")
            done = _one_seed(one, task, own, said, reuse, measured).summary
        every.append(done)
    return _all_seeds(config, directory, every)


def _one_seed(
    config: TrainConfig,
    task: Task,
    directory: RunDirectory,
    report: Reporter,
    reuse: Path | None,
    measured: Measurement | None,
    began: float | None = None,
) -> Trained:
    began = time.monotonic() if began is None else began
    times = TimeLeft.of(config.budget, measured, task, began)
    outcome = run_candidates(config, task, config.seed, directory, report, reuse, times)
    done = outcome.best
    report.advance("scoring", 0.0, f"{config.episodes} unseen episodes")
    # Even if the time is up, a few episodes are played: a tree needs a score.
    least = time.monotonic() + LEAST_SECONDS
    end = math.inf if config.budget is None else max(least, began + 60 * config.budget)
    figures = _baselines(config, task, done, end)
    returns, cut = _unseen_returns(done.tree, task, config, end, times.pace(task))
    figures = scored(returns, *figures, asked=config.episodes)
    trained = [r for r in done.records if r.get("training_return") is not None]
    soft_return = trained[-1]["training_return"] if trained else None
    summary = {
        **about(config),
        "seed": config.seed,
        "soft_return": soft_return,
        "teacher_return": teacher_return(done.records),
        **figures,
        **_to_try(config, task, figures),
        **gap(soft_return, figures),
        "selection_return": done.selection_return,
        "leaves": done.tree.n_leaves,
        "depth": done.tree.depth,
        "steps": outcome.steps,
        "seconds": round(sum(r["seconds"] for r in done.records), 2),
        "wall_seconds": round(time.monotonic() - began, 2),
        "candidate": done.candidate.name,
        "beginning": done.candidate.beginning,
        "candidates": outcome.scores,
        "cut_episodes": cut,
        "stages": list(done.records),
    }
    if config.start_from is not None:
        summary["changes"] = _changes(config, task, done)
    tree = replace(only_asked(done.tree), training=_training(summary, figures))
    _publish(directory, tree)
    directory.write_json("summary.json", summary)  # last: with it the run is done
    return Trained(tree, summary, directory.path)


def _to_try(config: TrainConfig, task: Task, figures: dict[str, Any]) -> dict[str, str]:
    """What may help, where nothing was learned."""
    if figures["verdict"] in (BETTER, *OPEN):
        return {}
    return {"to_try": what_to_try(config, task)}


def _measured_in(directory: RunDirectory) -> Measurement | None:
    """What was measured when the run began, where that is known."""
    try:
        return Measurement(**(directory.read_json("config.json") or {})["measured"])
    except (KeyError, TypeError):
        return None


def _unseen_returns(
    tree: CrispTree, task: Task, config: TrainConfig, end: float, pace: Pace
) -> tuple[np.ndarray, int]:
    """The returns of unseen episodes, and how many did not end. Of slow ones only as many are
    played as there is time for until `end`; their number is given with every return."""
    seeds = episode_seeds("reporting", config.seed, config.episodes)
    returns: list[float] = []
    cut = 0
    while len(returns) < len(seeds):
        left = end - time.monotonic()
        # All at once if that is surely in time; else a part, which shows how long episodes take.
        each = max(pace.seconds(1), 1e-9)
        fits = len(seeds) if 2 * each * len(seeds) < left else left / 2 / each
        if returns and fits < 1:
            break
        part = seeds[len(returns) :][: max(1, int(fits))]
        began = time.monotonic()
        played = rollout([tree], task, part, deadline=end)
        late = bool(played.cut) and time.monotonic() >= end
        if late and returns:
            break  # only the short ones of those under way would count
        pace.note(played, time.monotonic() - began, is_whole=not late)
        returns += played.returns[0].tolist()
        cut += played.cut
        if late:
            break
    return np.array(returns), cut


def _baselines(config: TrainConfig, task: Task, done: Finished, end: float) -> tuple[Any, ...]:
    """The baselines and, where the model is known, the exact return of the tree."""
    model = exact_model(task)
    if model is None:
        left = max(0.0, end - time.monotonic())
        seconds = min(MOST_BASELINE_SECONDS, BASELINE_SHARE * left)
        return baseline_returns(task, config.seed, seconds=seconds), None
    exact = {"exact_return": model.mean_return(done.tree)}
    known = [each["optimum"] for each in done.records if "optimum" in each]
    exact |= {"optimum": known[-1]} if known else {}
    return model.baselines(), exact


def _training(summary: dict[str, Any], figures: dict[str, Any]) -> dict[str, Any]:
    """The `training` field of a policy file."""
    return {"command": summary["command"], "config_hash": summary["config_hash"], **figures}


def _all_seeds(
    config: TrainConfig, directory: RunDirectory, every: list[dict[str, Any]]
) -> Trained:
    """Every seed's figures; the policy at the top is the best by selection, not by report."""
    summary, tree = gathered(config, every), None
    chosen = [each for each in every if each.get("selection_return") is not None]
    if chosen:
        best = max(chosen, key=lambda each: each["selection_return"])
        tree = CrispTree.load(directory.path / f"seed-{best['seed']}" / "policy.json")
        summary["policy_of_seed"] = best["seed"]
        _publish(directory, tree)
    directory.write_json("summary.json", summary)
    return Trained(tree, summary, directory.path)


def _publish(directory: RunDirectory, tree: CrispTree) -> None:
    tree.save(directory.path / "policy.json")
    write_atomically(directory.path / "policy.svg", as_svg(tree))


def _changes(config: TrainConfig, task: Task, done: Finished) -> dict[str, Any]:
    """How training changed the expert's tree."""
    from crisptree.crispen.expert import changes, read_expert

    assert config.start_from is not None
    return changes(read_expert(Path(config.start_from), task), done.tree, task)


def _run_soft(
    config: TrainConfig, task: Task, directory: RunDirectory, report: Reporter
) -> Trained:
    """The paper's way, or an MLP: all seeds at once, each with its own folder if several."""
    began = time.monotonic()
    every = []
    for result in train_soft(config, task, directory, report):
        folder = directory
        if config.seeds > 1:
            folder = RunDirectory(directory.folder(f"seed-{result.seed}"))
        summary = _soft_summary(config, task, result, folder)
        if config.seeds > 1:
            folder.write_json("summary.json", summary)
        every.append(summary)
    if config.seeds > 1:
        return _all_seeds(config, directory, every)
    summary = {**every[0], "wall_seconds": round(time.monotonic() - began, 2)}
    directory.write_json("summary.json", summary)
    return Trained(_policy_in(directory), summary, directory.path)


def _policy_in(directory: RunDirectory) -> CrispTree | None:
    path = directory.path / "policy.json"
    return CrispTree.load(path) if path.exists() else None


def _soft_summary(
    config: TrainConfig, task: Task, result: SoftResult, folder: RunDirectory
) -> dict[str, Any]:
    """The figures of one seed; a tree is discretised, scored and written too."""
    seeds = episode_seeds("reporting", result.seed, config.episodes)
    soft = rollout([result.policy], task, seeds).returns[0]
    summary: dict[str, Any] = {
        **about(config),
        "seed": result.seed,
        "soft_return": float(soft.mean()),
        "soft_return_min": float(soft.min()),
        "episodes": config.episodes,
        "steps": result.steps,
        "seconds": result.seconds,
    }
    if result.tree is None:
        return summary
    tree = result.tree.simplify()
    returns = rollout([tree], task, seeds).returns[0]
    figures = scored(returns, baseline_returns(task, result.seed))
    summary |= {**figures, **gap(summary["soft_return"], figures)}
    summary |= _to_try(config, task, figures)
    summary |= {
        "leaves": tree.n_leaves,
        "depth": tree.depth,
        "leaves_before_simplifying": result.tree.n_leaves,
        "selection_return": result.selection_return,
    }
    _publish(folder, replace(tree, training=_training(summary, figures)))
    return summary
