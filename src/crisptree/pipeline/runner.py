"""Runs a plan: the only place that handles folders, checkpoints, resuming, reuse and times."""

import json
import math
import os
import shutil
import tempfile
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.base.text import counted
from crisptree.crisp import CrispTree
from crisptree.crispen.pace import Pace
from crisptree.crispen.refine import Snapshot
from crisptree.envs.task import Task
from crisptree.learn import checkpoint
from crisptree.learn.exact_model import exact_model
from crisptree.learn.trainer import Progress
from crisptree.pipeline.config import MOST_CANDIDATES, TrainConfig
from crisptree.pipeline.config_io import PROCEDURE, digest, to_dict
from crisptree.pipeline.progress import Reporter
from crisptree.pipeline.run_directory import RunDirectory, read_metrics
from crisptree.pipeline.stage import Artifacts, Context, Stage
from crisptree.pipeline.timing import Measurement

SPARE = 0.05
"""Share of the time that is kept free at the end."""
LEAST_PACE = 0.5
"""Least share of the planned steps for stages after a first training that ended early: small trees
are harder to train, and their own schedules end early, too."""


@dataclass(frozen=True)
class Before:
    """The artifacts before the stages that are run."""

    made: Artifacts = field(default_factory=Artifacts)
    key: str = ""
    """The key of the stage that made them."""
    n_stages: int = 0


def run_stages(
    stages: Sequence[Stage],
    task: Task,
    config: TrainConfig,
    seed: int,
    directory: RunDirectory,
    report: Reporter,
    *,
    before: Before | None = None,
    minutes: float | None = None,
    later: float = 0.0,
    reuse: Path | None = None,
    measured: Measurement | None = None,
    latest: float = math.inf,
) -> tuple[Artifacts, list[dict[str, Any]]]:
    """What the last stage made, and the record of each.

    Stages that are done are read from their folders. With `reuse`, a stage whose key is in that
    folder is copied from there, and what runs here is copied to it. `minutes` is the time for all
    of them and for stages that come `later`, whose weight that is: each gets its share, and what
    one leaves over goes to the next. `latest` is when they must be over, on `time.time`'s clock,
    which other processes have too. How many episodes there is time for is told from what was
    `measured` of the environment.
    """
    before = before or Before()
    made, records, key = before.made, [], before.key
    model, pace = exact_model(task), Pace() if measured is None else measured.pace(task.max_steps)
    folders = [
        f"stages/{number:02d}-{stage.name}"
        for number, stage in enumerate(stages, before.n_stages + 1)
    ]
    weights = [stage.weight for stage in stages]
    clock = _Clock(weights, later, minutes, _seconds_so_far(directory, folders), latest)
    for number, (stage, folder) in enumerate(zip(stages, folders, strict=True)):
        key = stage_key(stage, config, task, seed, key)
        if reuse is not None and _copy_stage(reuse / key, directory.path / folder):
            directory.append_metrics(read_metrics(reuse / key / "metrics.jsonl"))
        checkpoints = StageCheckpoints(directory, folder, stage.name, report)
        context = Context(
            _with_derived(task, made),
            config,
            stage_seed(seed, stage.name),
            checkpoints,
            report,
            stage.name,
            model,
            clock.deadline(number),
            clock.end,
            pace,
        )
        record = directory.read_checked(f"{folder}/result.json")
        if record is not None and record.get("key") == key:
            made = replace(stage.load(directory.path / folder, made, context), figures=record)
        else:
            made = stage.run(made, context)
            stage.save(made, directory.folder(folder))
            record = {
                "stage": stage.name,
                **made.figures,
                "seconds": round(checkpoints.seconds, 2),
                "key": key,
            }
            # The record is written last, so that a stage is either done or not.
            directory.write_checked(f"{folder}/result.json", record)
            checkpoints.clear()
            if reuse is not None:
                _copy_stage(directory.path / folder, reuse / key, directory.lines_of(stage.name))
        if record.get("best_return") is not None:
            best = max(made.best_return, record["best_return"])
            made = replace(made, best_return=best)
        if record.get("pace") is not None:
            made = replace(made, pace=max(LEAST_PACE, record["pace"]))
        records.append(record)
        if line := line_of(record):
            report.note(line)
    return made, records


def _with_derived(task: Task, made: Artifacts) -> Task:
    """The task with the derived features that trees have."""
    own = () if made.tree is None else made.tree.features[made.tree.n_features :]
    # The tree may be another candidate's, with derived features of its own.
    return replace(task, features=(*task.features, *(own or made.derived)))


def stage_key(stage: Stage, config: TrainConfig, task: Task, seed: int, before: str) -> str:
    """The key of a stage: a hash of all that its outcome depends on, earlier stages included."""
    return digest(
        {
            "procedure": PROCEDURE,
            "stage": stage.name,
            "settings": stage.settings(config),
            "env": to_dict(config.env),
            "features": list(task.feature_names),
            "checkpoint_every": config.checkpoint_every,
            "seed": seed,
            "before": before,
        }
    )


def candidate_seed(seed: int, number: int) -> int:
    """A distinct seed for each candidate of each seed, and for the choice among them."""
    return seed * (MOST_CANDIDATES + 1) + number


def stage_seed(seed: int, name: str) -> int:
    """The seed of a stage."""
    entropy = [seed, zlib.crc32(name.encode())]
    return int(np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0] >> 1)


def line_of(record: dict[str, Any]) -> str:
    """One line about a finished stage; None if it had nothing to do."""
    names = {"training_return": "in training", "selection_return": "crisp"}
    told = [
        f"{what} {value:.4g}"
        for name, what in names.items()
        if (value := record.get(name)) is not None
    ]
    if not told and record.get("best_return") is not None:
        told = [f"at best {record['best_return']:.4g}"]
    if not told:
        return ""
    leaves = [counted(record["leaves"], "leaf", "leaves")] if "leaves" in record else []
    return f"  {record['stage']:<16} {record['seconds']:7.1f} s   {', '.join(leaves + told)}"


class _Clock:
    """Shares the time among stages: when each should be done."""

    def __init__(
        self,
        weights: Sequence[float],
        later: float,
        minutes: float | None,
        used: float,
        latest: float,
    ) -> None:
        self._weights, self._later = weights, later
        left = math.inf if minutes is None else 60 * minutes - used
        self.end = time.monotonic() + max(0.0, min(left, latest - time.time()))

    def deadline(self, number: int) -> float:
        if self.end == float("inf"):
            return self.end
        # The last stage also ends before the end, since its tree is still scored.
        spare = SPARE * (sum(self._weights) + self._later)
        now, rest = time.monotonic(), sum(self._weights[number:]) + self._later + spare
        return now + max(0.0, self.end - now) * self._weights[number] / max(rest, 1e-9)


def _seconds_so_far(directory: RunDirectory, folders: Sequence[str]) -> float:
    """Seconds that the stages took before they were interrupted."""
    total = 0.0
    for folder in folders:
        for name in ("result.json", "checkpoint.json"):
            state = directory.read_checked(f"{folder}/{name}")
            total += 0.0 if state is None else float(state.get("seconds") or 0.0)
    return total


def _copy_stage(
    source: Path, target: Path, metrics: Sequence[dict[str, Any]] | None = None
) -> bool:
    """Copy a finished stage, whole or not at all; an existing copy stays.

    `metrics` are written beside it, for the runs that reuse the stage. If there is no room, or
    another run was faster, nothing is copied.
    """
    if not (source / "result.json").exists() or target.exists():
        return False
    half = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        half = Path(tempfile.mkdtemp(dir=target.parent, prefix=".half-"))
        shutil.copytree(source, half, dirs_exist_ok=True)
        (half / "metrics.jsonl").unlink(missing_ok=True)
        if metrics is not None:
            text = "".join(json.dumps(line) + "\n" for line in metrics)
            (half / "metrics.jsonl").write_text(text)
        os.rename(half, target)
    except OSError:
        if half is not None:
            shutil.rmtree(half, ignore_errors=True)
        return False
    return True


class StageCheckpoints:
    """A stage's folder while it works: checkpoints of what learns, and a line for every update. See
    `stage.Checkpoints`."""

    def __init__(self, directory: RunDirectory, folder: str, name: str, report: Reporter) -> None:
        self._directory, self._folder, self._name, self._report = directory, folder, name, report
        self._seconds_before = 0.0
        self._since = self._last = time.monotonic()
        self._returns: np.ndarray | None = None
        self._best: float | None = None

    @property
    def seconds(self) -> float:
        """Time this stage has taken, interruptions left out."""
        return self._seconds_before + time.monotonic() - self._since

    def resumed(self, states: Any) -> tuple[Any, list[Snapshot]]:
        state = self._directory.read_checked(f"{self._folder}/checkpoint.json")
        if state is None:
            # What is logged before the first checkpoint has to go if it is never reached.
            self._write_state(None, (), self._directory.append_metrics([]))
            return states, []
        try:
            self._seconds_before = float(state["seconds"])
            self._directory.cut_metrics(int(state["metrics_length"]))
            if state["states"] is None:
                return states, []
            self._returns = np.array(state["returns"], float)
            self._best = None if state["best"] is None else float(state["best"])
            snapshots = [
                Snapshot(CrispTree.from_dict(each["policy"]), each["start"])
                for each in state["snapshots"]
            ]
            path = self._directory.path / self._folder / str(state["states"])
        except (KeyError, TypeError, ValueError) as error:
            raise CrisptreeError(
                f"{self._directory.path / self._folder}/checkpoint.json is damaged: {error!r}"
            ) from error
        return checkpoint.load(path, states), snapshots

    def segment(self, progress: Progress, snapshots: Sequence[Snapshot] = ()) -> None:
        now = time.monotonic()
        returns = progress.metrics["return"]
        n_updates, n_starts = returns.shape
        steps = n_updates * n_starts * progress.steps_per_update
        rate = steps / max(now - self._last, 1e-9)
        self._last = now
        self._returns = _last_known(returns, self._returns)
        known = returns[np.isfinite(returns)]
        if len(known):
            self._best = max(float(known.max()), -np.inf if self._best is None else self._best)
        length = self._directory.append_metrics(self._lines(progress, rate))
        if progress.is_resumable:
            self._checkpoint(progress, snapshots, length)
        latest = f"return {known[-1]:8.4g}" if len(known) else "return        ?"
        self._report.advance(self._name, progress.share, f"{latest}   {rate / 1000:,.1f}k steps/s")

    def _checkpoint(self, progress: Progress, snapshots: Sequence[Snapshot], length: int) -> None:
        folder = self._directory.folder(self._folder)
        name = f"states-{progress.update:06d}.eqx"
        checkpoint.save(folder / name, progress.states)
        self._write_state(name, snapshots, length)
        for old in folder.glob("states-*.eqx"):
            if old.name != name:
                old.unlink()

    def _write_state(self, states: str | None, snapshots: Sequence[Snapshot], length: int) -> None:
        state = {
            "states": states,
            "seconds": self.seconds,
            "metrics_length": length,
            "returns": self._returns,
            "best": self._best,
            "snapshots": [{"start": s.start, "policy": s.tree.to_dict()} for s in snapshots],
        }
        self._directory.folder(self._folder)
        self._directory.write_checked(f"{self._folder}/checkpoint.json", state)

    def training_return(self, start: int = 0) -> float | None:
        latest = np.nan if self._returns is None else self._returns[start]
        return float(latest) if np.isfinite(latest) else None

    def best_return(self) -> float | None:
        return self._best

    def _lines(self, progress: Progress, rate: float) -> list[dict[str, Any]]:
        n_updates, n_starts = progress.metrics["return"].shape
        first = progress.update - n_updates
        return [
            {
                "stage": self._name,
                **({"start": start} if n_starts > 1 else {}),
                "step": (first + i + 1) * progress.steps_per_update,
                **{name: float(values[i, start]) for name, values in progress.metrics.items()},
                "steps_per_second": round(rate, 1),
            }
            for i in range(n_updates)
            for start in range(n_starts)
        ]

    def clear(self) -> None:
        """Remove what is not needed once the stage is done."""
        folder = self._directory.path / self._folder
        for leftover in [*folder.glob("states-*.eqx"), folder / "checkpoint.json"]:
            leftover.unlink(missing_ok=True)


def _last_known(returns: np.ndarray, before: np.ndarray | None) -> np.ndarray:
    """The mean over the segment's updates in which episodes ended, for each start."""
    ended = np.isfinite(returns)
    total = np.where(ended, returns, 0).sum(0)
    before = np.full(returns.shape[1], np.nan) if before is None else before
    return np.where(ended.any(0), total / np.maximum(ended.sum(0), 1), before)
