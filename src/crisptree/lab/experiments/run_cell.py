"""Run one cell with the pipeline that `crisptree train` uses, in a folder that can be resumed."""

import base64
import math
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.crispen.select import Selection
from crisptree.envs.policy import Policy, random_policy
from crisptree.envs.rollout import rollout
from crisptree.envs.seeds import block_seed, episode_seeds
from crisptree.envs.task import Task, task_of
from crisptree.lab.experiments import scripts
from crisptree.lab.experiments.cell import CRISPENED, LEARNERS, UNTRAINED, Cell
from crisptree.lab.experiments.imitators import dagger_tree, state_action_tree
from crisptree.lab.experiments.learning_curves import curve_of_seed, curve_of_stages
from crisptree.lab.experiments.linear_rule import linear_rule
from crisptree.lab.experiments.record import Record, SeedResult, versions
from crisptree.learn import checkpoint
from crisptree.learn.acting import greedy
from crisptree.learn.compilation_cache import enable_compilation_cache
from crisptree.pipeline.candidates import Finished, run_candidates
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.config_io import command, config_hash, from_dict, to_dict
from crisptree.pipeline.paper import fresh_learner, train_soft
from crisptree.pipeline.progress import Reporter
from crisptree.pipeline.resolve import resolve
from crisptree.pipeline.run_directory import RunDirectory, read_metrics
from crisptree.pipeline.timing import Measurement

SELECTION_EPISODES = 128
NOT_MEASURED = Measurement(math.nan, math.nan)
"""A cell gives the number of steps, so nothing is measured and nothing depends on the machine."""
PATIENCE = 60.0
"""Seconds to wait for the process of a driver that was killed."""


@dataclass(frozen=True)
class Teacher:
    """Whom an imitator learns from: a learner's resolved configuration and its saved state."""

    config: TrainConfig
    agent: bytes


@dataclass(frozen=True)
class FinishedCell:
    record: Record
    agents: dict[int, bytes] = field(default_factory=dict)
    """The saved states of soft learners, by seed."""


def run_job(
    cell: dict[str, Any],
    teacher: dict[str, Any] | None,
    folder: str,
    reuse: str,
    report: Reporter,
) -> dict[str, Any]:
    """The job of a worker process, in plain JSON; bytes are in base 64."""
    enable_compilation_cache()
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    learned_from = None
    if teacher is not None:
        config = from_dict(TrainConfig, teacher["config"])
        learned_from = Teacher(config, base64.b64decode(teacher["agent"]))
    done = run_cell(Cell.from_dict(cell), learned_from, path, Path(reuse), report)
    agents = {str(seed): base64.b64encode(each).decode() for seed, each in done.agents.items()}
    return {"record": done.record.to_dict(), "agents": agents}


def run_cell(
    cell: Cell,
    teacher: Teacher | None,
    folder: Path,
    reuse: Path | None,
    report: Reporter,
) -> FinishedCell:
    """The record of one cell. Interrupted and called again, it goes on where it was.

    In `reuse`, cells share stages whose inputs are the same.
    """
    env = cell.config.env
    task = task_of(env.id, env.kwargs or None, env.features)
    directory, agents = RunDirectory(folder), dict[int, bytes]()
    _wait_until_free(directory)
    config = None
    if cell.model in LEARNERS + CRISPENED:
        config = resolve(cell.config, task, NOT_MEASURED)
    if cell.model in LEARNERS:
        assert config is not None
        seeds, agents = _learned(config, task, directory, report)
        if cell.model == "linear-rule":
            seeds = [_as_linear_rule(each, agents, config, task) for each in seeds]
    elif cell.model in CRISPENED:
        assert config is not None
        seeds = [_crispened(config, task, directory, report, reuse)]
    elif cell.model in UNTRAINED:
        seeds = [_played(cell, task, seed) for seed in cell.seeds]
    else:
        assert teacher is not None
        seeds = _imitated(cell, teacher, task)
    record = Record(cell.key, cell, tuple(seeds), None, None, versions())
    if config is not None:
        about = {"resolved": to_dict(config), "hash": config_hash(config)}
        record = replace(record, config=about, command=command(cell.config))
    return FinishedCell(record, agents)


def load_learner(config: TrainConfig, task: Task, content: bytes) -> Any:
    """A learner that was trained with the resolved `config`, from its saved bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "learner.eqx"
        path.write_bytes(content)
        return checkpoint.load(path, fresh_learner(config, task, config.seed))


def reported_returns(
    policy: Policy | CrispTree, task: Task, seed: int, episodes: int
) -> tuple[float, ...]:
    """The return of each reporting episode of a seed: those that `crisptree evaluate` plays."""
    played = rollout([policy], task, episode_seeds("reporting", seed, episodes))
    return tuple(map(float, played.returns[0]))


def selection_return(policy: Policy | CrispTree, task: Task, seed: int) -> float:
    """Mean return on selection episodes, by which runs are chosen."""
    first = block_seed("selection", SELECTION_EPISODES, seed, 7)
    played = rollout([policy], task, range(first, first + SELECTION_EPISODES), fast=True)
    return float(played.returns.mean())


def _wait_until_free(directory: RunDirectory) -> None:
    """Wait while a process that is dying still writes to the folder."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            with directory.locked():
                return
        except CrisptreeError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)


def _learned(
    config: TrainConfig, task: Task, directory: RunDirectory, report: Reporter
) -> tuple[list[SeedResult], dict[int, bytes]]:
    """Seeds side by side: each soft policy, and what the paper's argmax makes of it."""
    every, agents = list[SeedResult](), dict[int, bytes]()
    for index, done in enumerate(train_soft(config, task, directory, report)):
        report.advance("scoring", index / config.seeds, f"seed {done.seed}")
        tree = None if done.tree is None else done.tree.simplify()
        crisp = None
        if tree is not None:
            crisp = reported_returns(tree, task, done.seed, config.episodes)
        every.append(
            SeedResult(
                seed=done.seed,
                soft_returns=reported_returns(done.policy, task, done.seed, config.episodes),
                soft_selection=selection_return(done.policy, task, done.seed),
                crisp_returns=crisp,
                crisp_selection=done.selection_return,
                policy=tree,
                full_policy=done.tree,
                curve=curve_of_seed(read_metrics(directory.path / "metrics.jsonl"), index),
                steps=done.steps,
                seconds=done.seconds,
            )
        )
        saved = "soft" if config.seeds == 1 else f"seed-{done.seed}/soft"
        agents[done.seed] = (directory.path / saved / "learner.eqx").read_bytes()
    return every, agents


def _as_linear_rule(
    result: SeedResult, agents: dict[int, bytes], config: TrainConfig, task: Task
) -> SeedResult:
    """The result with the linear policy read off as a tree of one leaf."""
    seed, tree = result.seed, linear_rule(load_learner(config, task, agents[result.seed]), task)
    return replace(
        result,
        policy=tree,
        crisp_returns=reported_returns(tree, task, seed, config.episodes),
        crisp_selection=selection_return(tree, task, seed),
    )


def _crispened(
    config: TrainConfig,
    task: Task,
    directory: RunDirectory,
    report: Reporter,
    reuse: Path | None,
) -> SeedResult:
    """The pipeline's crisp policy of one seed. Candidates wait for each other: the cores are
    shared by the cells."""
    assert config.seeds == 1, "crisp policies are trained one seed a run"
    alone = replace(config, candidates=replace(config.candidates, workers=1, executor="local"))
    outcome = run_candidates(alone, task, config.seed, directory, report, reuse)
    done = outcome.best
    report.advance("scoring", 0.0, f"{config.episodes} unseen episodes")
    return SeedResult(
        seed=config.seed,
        crisp_returns=reported_returns(done.tree, task, config.seed, config.episodes),
        crisp_selection=done.selection_return,
        policy=done.tree,
        full_policy=_before_simplifying(done),
        curve=curve_of_stages(_metrics(done)),
        steps=outcome.steps,
        seconds=outcome.seconds,
    )


def _metrics(done: Finished) -> list[dict[str, Any]]:
    """A line for each update on the way to a tree."""
    stages = zip(done.records, done.folders, strict=True)
    return [
        line
        for record, folder in stages
        for line in RunDirectory(folder.parent.parent).lines_of(record["stage"])
    ]


def _before_simplifying(done: Finished) -> CrispTree:
    """The tree of the last stage before the cuts that cost nothing."""
    number = [record["stage"] for record in done.records].index("simplify")
    return CrispTree.load(done.folders[number - 1] / "policy.json") if number else done.tree


def _imitated(cell: Cell, teacher: Teacher, task: Task) -> list[SeedResult]:
    agent = greedy(load_learner(teacher.config, task, teacher.agent))
    size, results = cell.config.policy.leaves, []
    for seed in cell.seeds:
        began = time.monotonic()
        # A stream of selection episodes apart from those of all trainings.
        selection = Selection(task, 2**40 + seed)
        if cell.model == "dagger-dt":
            tree = dagger_tree(agent, task, size, seed, selection, cell.config.distill)
        else:
            tree = state_action_tree(agent, task, size, seed)
        result = SeedResult(
            seed=seed,
            crisp_returns=reported_returns(tree, task, seed, cell.episodes),
            crisp_selection=selection.mean(tree, SELECTION_EPISODES),
            policy=tree,
            seconds=round(time.monotonic() - began, 2),
        )
        results.append(result)
    return results


def _played(cell: Cell, task: Task, seed: int) -> SeedResult:
    began = time.monotonic()
    policy = random_policy(task, seed)
    if cell.script is not None:
        policy = getattr(scripts, cell.script)(task, seed)
    return SeedResult(
        seed=seed,
        soft_returns=reported_returns(policy, task, seed, cell.episodes),
        seconds=round(time.monotonic() - began, 2),
    )
