"""Trainings of the zoo by the default procedure, and all that they are compared with."""

import math
import shutil
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.crispen.distill import distill
from crisptree.crispen.select import Selection
from crisptree.envs.evaluate import baseline_returns
from crisptree.envs.policy import Policy
from crisptree.envs.rollout import rollout
from crisptree.envs.seeds import block_seed, episode_seeds
from crisptree.envs.task import Task
from crisptree.lab.experiments.record import versions
from crisptree.lab.zoo.entry import Entry
from crisptree.lab.zoo.record import Figure, ZooRecord, ZooStore
from crisptree.lab.zoo.teachers import Found, exact_teacher, networks_of, trained_network
from crisptree.learn.exact_model import exact_model
from crisptree.learn.value_iteration import solve
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.config_io import load
from crisptree.pipeline.progress import Prefixed, Reporter
from crisptree.pipeline.train import Trained, train

CART_STREAM = 2**40
"""Selection episodes of the imitator, apart from those of all trainings."""
COMPARISON_SHARE = 0.2
"""Share of the budget that a network or CART gets, where they are made for comparison only."""


def run_zoo(
    entries: Sequence[Entry],
    seeds: Iterable[int],
    budget: float | None,
    store: ZooStore,
    report: Reporter,
) -> dict[str, str]:
    """Run what is missing, seed by seed; why entries failed, by name."""
    failed: dict[str, str] = {}
    for seed in seeds:
        for entry in entries:
            config = entry.config(seed, budget)
            key = entry.key(config)
            if entry.name in failed or store.record(key) is not None:
                continue
            try:
                work = store.files.work_folder / key
                record = run_entry(entry, config, work, Prefixed(report, entry.slug))
            except CrisptreeError as error:
                failed[entry.name] = str(error)
                report.note(f"{entry.name}: {error}")
                continue
            store.put(record)
            report.note(_in_a_line(record))
    return failed


def _in_a_line(record: ZooRecord) -> str:
    figures = ", ".join(f"{name} {each.mean:.4g}" for name, each in record.figures.items())
    return f"{record.name} seed {record.seed}: {figures} ({record.seconds['training']:.0f} s)"


def run_entry(entry: Entry, config: TrainConfig, work: Path, report: Reporter) -> ZooRecord:
    """The record of one seed. Interrupted and called again, the training goes on where it was."""
    task = entry.task()
    began = time.monotonic()
    trained = _trained(config, task, work, report)
    training = time.monotonic() - began
    assert trained.tree is not None
    report.advance("comparisons", 0.0, "teachers, random play and constant actions")
    judge = _Judge(entry, task, config.seed)
    network, teacher = _teachers(trained, task, judge, report)
    cart = _cart(teacher.policy, entry, load(trained.path / "config.json"), task)
    figures = {
        **judge.without_learning(),
        "network": judge.figure(network.policy, network.kind),
        "cart": judge.figure(cart),
        "crisptree": judge.figure(trained.tree),
    }
    record = ZooRecord(
        key=entry.key(config),
        entry=entry.to_dict(),
        seed=config.seed,
        budget=config.budget,
        command=trained.summary["command"],
        config_hash=trained.summary["config_hash"],
        verdict=trained.summary["verdict"],
        figures=figures,
        teacher=teacher.kind,
        optimum=None if judge.model is None else judge.model.mean_return(solve(task)),
        seconds={
            "training": round(trained.summary.get("wall_seconds", training), 1),
            "all": round(time.monotonic() - began, 1),
        },
        versions=versions(),
        policy=trained.tree.to_dict(),
    )
    shutil.rmtree(work, ignore_errors=True)
    return record


def _trained(config: TrainConfig, task: Task, work: Path, report: Reporter) -> Trained:
    started = (work / "config.json").exists()
    if not started:
        shutil.rmtree(work, ignore_errors=True)
    work.parent.mkdir(parents=True, exist_ok=True)
    return train(config, task, work, resume=started, report=report)


def _teachers(
    trained: Trained, task: Task, judge: "_Judge", report: Reporter
) -> tuple[Found, Found]:
    """The best network, and the teacher that CART learns from: the model's where there is one."""
    config = load(trained.path / "config.json")
    networks = networks_of(trained.path, config, task)
    if not networks:
        networks = [trained_network(trained.path, config, task, _minutes(config), report)]
    best = networks[0] if len(networks) == 1 else judge.best(networks)
    return best, best if judge.model is None else exact_teacher(task)


def _minutes(config: TrainConfig) -> float:
    """Time for one comparison."""
    return COMPARISON_SHARE * (config.budget or math.inf)


def _cart(teacher: Policy, entry: Entry, config: TrainConfig, task: Task) -> CrispTree:
    """CART by VIPER: DAgger, rows weighted by what a wrong action costs where that is known."""
    until = time.monotonic() + 60 * _minutes(config)
    selection = Selection(task, CART_STREAM + config.seed, config.selection.scale or 1.0)
    done = distill(
        teacher,
        task,
        entry.leaves,
        selection,
        seed=config.seed,
        rounds=config.distill.rounds,
        episodes=selection.scaled(config.distill.episodes),
        finalists=config.distill.finalists,
        is_late=lambda: time.monotonic() > until,
    )
    return done.tree.simplify()


class _Judge:
    """Scores policies on the same unseen episodes."""

    def __init__(self, entry: Entry, task: Task, seed: int) -> None:
        self.task, self.model = task, exact_model(task)
        self._seed, self._episodes = seed, entry.episodes

    def figure(self, policy: Policy | CrispTree, kind: str = "") -> Figure:
        seeds = episode_seeds("reporting", self._seed, self._episodes)
        returns = rollout([policy], self.task, seeds).returns[0]
        n = len(returns)
        return Figure(
            float(returns.mean()),
            float(returns.std(ddof=1) / np.sqrt(n)) if n > 1 else None,
            float(returns.min()),
            kind,
            policy.n_leaves if isinstance(policy, CrispTree) else None,
            None if self.model is None else self.model.mean_return(policy),
        )

    def best(self, found: Sequence[Found]) -> Found:
        """The teacher that earns most in selection episodes."""
        count = min(64, self._episodes)
        first = block_seed("selection", count, self._seed, CART_STREAM)
        policies = [each.policy for each in found]
        played = rollout(policies, self.task, range(first, first + count), fast=True)
        return found[int(played.returns.mean(1).argmax())]

    def without_learning(self) -> dict[str, Figure]:
        """Random play and the best constant action, as far as their episodes end."""
        if self.model is not None:
            known = self.model.baselines()
        else:
            known = baseline_returns(self.task, self._seed, episodes=self._episodes)
        found = {}
        if known.random_return is not None:
            found["random"] = Figure(known.random_return)
        if known.constant_return is not None:
            kind = f"always {known.constant_action}"
            found["constant"] = Figure(known.constant_return, kind=kind)
        return found
