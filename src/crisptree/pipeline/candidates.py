"""Candidates race: they begin in different ways or from different seeds, and the best goes on.

This is the one mechanism for trying something more than once. Where there are more candidates than
finalists, all of them learn a first tree, and those whose first trees earn most go on from there.
"""

import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from crisptree.base.errors import CrisptreeError
from crisptree.base.processes import cores
from crisptree.crisp import CrispTree
from crisptree.crispen.pace import Timetable
from crisptree.crispen.select import Selection
from crisptree.envs.source import EnvSource
from crisptree.envs.task import Task, task_of
from crisptree.learn.compilation_cache import enable_compilation_cache
from crisptree.learn.exact_model import exact_model
from crisptree.pipeline.config import MOST_CANDIDATES, Beginning, TrainConfig, turns
from crisptree.pipeline.config_io import from_dict, to_dict
from crisptree.pipeline.executor import run_jobs
from crisptree.pipeline.jobs import Job, Message, ProcessEndedError
from crisptree.pipeline.plan import first_stages, plan
from crisptree.pipeline.progress import Prefixed, Reporter
from crisptree.pipeline.run_directory import RunDirectory
from crisptree.pipeline.runner import run_stages
from crisptree.pipeline.timing import TimeLeft


@dataclass(frozen=True)
class Candidate:
    number: int
    beginning: Beginning

    @property
    def name(self) -> str:
        return f"{self.number}-{self.beginning}"


@dataclass(frozen=True)
class Finished:
    """A candidate at the end of its plan."""

    candidate: Candidate
    tree: CrispTree
    selection_return: float
    records: tuple[dict[str, Any], ...]


def candidates_of(config: TrainConfig) -> list[Candidate]:
    """One for each turn."""
    return [Candidate(i, beginning) for i, beginning in enumerate(turns(config))]


def candidate_seed(seed: int, number: int) -> int:
    """A seed for one candidate of one seed (and for the choice among them), no two alike."""
    return seed * (MOST_CANDIDATES + 1) + number


def run_candidates(
    config: TrainConfig,
    task: Task,
    seed: int,
    directory: RunDirectory,
    report: Reporter,
    reuse: Path | None = None,
    time_left: TimeLeft | None = None,
) -> tuple[list[Finished], int]:
    """The finalists at the end of their plans, and which of them is best."""
    every, began = candidates_of(config), time.monotonic()
    times = time_left or TimeLeft.of(config.budget, None, task, time.monotonic())
    if len(every) == 1:
        done = _run(config, task, seed, every[0], directory, report, times, reuse)
        return [done], 0
    assert config.candidates.finalists is not None
    finalists = every
    workers = config.candidates.workers or cores()
    minutes = [_share_of(times.minutes, -(-len(every) // workers))] * len(every)
    if len(every) > config.candidates.finalists:
        minutes = first_minutes(config, every, times.minutes)
        first = _run_all(
            config, task, seed, every, directory, report, times, minutes, "first", reuse
        )
        ranked = sorted(first, key=lambda done: -done.selection_return)
        first = ranked[: config.candidates.finalists]
        finalists = [done.candidate for done in first]
        report.note(f"  going on: {', '.join(each.name for each in finalists)}")
        minutes = last_minutes(first, times.minutes, (time.monotonic() - began) / 60)
    finished = _run_all(
        config, task, seed, finalists, directory, report, times, minutes, "last", reuse
    )
    return finished, _best(finished, config, task, seed, times)


def _share_of(minutes: float | None, by: int) -> float | None:
    return None if minutes is None else minutes / by


def first_minutes(
    config: TrainConfig, every: list[Candidate], minutes: float | None
) -> list[float | None]:
    """What each candidate may take for its first tree.

    Where there are more of them than workers they share the time that the slowest would take.
    """
    if minutes is None:
        return [None] * len(every)
    shares = [_first_share(config, each.beginning) for each in every]
    workers = config.candidates.workers or cores()
    crowding = max(1.0, sum(shares) / workers / max(shares))
    return [minutes * share / crowding for share in shares]


def _first_share(config: TrainConfig, beginning: Beginning) -> float:
    """Of the time of a whole plan, what goes to the first tree."""
    first, whole = first_stages(beginning, config), plan(beginning, config)
    return sum(stage.weight for stage in first) / sum(stage.weight for stage in whole)


def last_minutes(
    first: list[Finished], minutes: float | None, elapsed: float
) -> list[float | None]:
    """What each candidate may have taken in all when the time is up."""
    if minutes is None:
        return [None] * len(first)
    taken = [sum(record["seconds"] for record in each.records) / 60 for each in first]
    left = minutes - max(elapsed, *taken)  # a run that is resumed has used up time before
    return [used + left for used in taken]


def _best(
    finished: list[Finished], config: TrainConfig, task: Task, seed: int, times: TimeLeft
) -> int:
    """Which earns most on selection episodes of its own; of equals, the smaller tree.

    One that is settled was played longer than that, and comes before all others.
    """
    settled = [i for i, done in enumerate(finished) if done.records[-1].get("settled")]
    if settled or len(finished) == 1:
        return min(settled, key=lambda i: finished[i].tree.n_leaves, default=0)
    scale = config.selection.scale
    selection = Selection(
        task,
        candidate_seed(seed, MOST_CANDIDATES),
        1.0 if scale is None else scale,
        exact_model(task),
        Timetable(time.monotonic() + times.seconds_to_choose()),
        times.pace(task),
    )
    episodes = config.selection.final
    means = selection.returns([done.tree for done in finished], episodes).mean(1)
    if (means == means[0]).all() and selection.affords(len(finished), 8 * episodes):
        means = selection.returns([done.tree for done in finished], 8 * episodes).mean(1)
    return min(range(len(finished)), key=lambda i: (-means[i], finished[i].tree.n_leaves))


def _run_all(
    config: TrainConfig,
    task: Task,
    seed: int,
    candidates: list[Candidate],
    directory: RunDirectory,
    report: Reporter,
    times: TimeLeft,
    minutes: list[float | None],
    until: str,
    reuse: Path | None,
) -> list[Finished]:
    """Each candidate in a process of its own, in a folder of its own, for so many minutes.

    Once one of them is settled, the others have nothing to look for and are ended.
    """
    jobs = [
        Job(
            each.name,
            "crisptree.pipeline.candidates:run_candidate",
            {
                "config": to_dict(config),
                "source": task.source.to_bytes(),
                "seed": seed,
                "number": each.number,
                "beginning": each.beginning,
                "folder": str(directory.folder(f"candidates/{each.name}")),
                "times": asdict(replace(times, minutes=time_for_it)),
                "until": until,
                "reuse": None if reuse is None else str(reuse),
            },
            str(directory.folder(f"candidates/{each.name}") / "log.txt"),
        )
        for each, time_for_it in zip(candidates, minutes, strict=True)
    ]

    def on_message(name: str, message: Message) -> None:
        said = Prefixed(report, name)
        if "advance" in message:
            said.advance(*message["advance"])
        elif "note" in message:
            said.note(message["note"])

    try:
        results = run_jobs(
            jobs,
            workers=config.candidates.workers,
            executor=config.candidates.executor,
            on_message=on_message,
            is_enough=lambda name, result: result["settled"],
        )
    except ProcessEndedError as error:
        raise CrisptreeError(f"{error}; the environment '{task.name}' was at work in it") from error
    return [
        Finished(
            each,
            CrispTree.from_dict(results[each.name]["policy"]),
            results[each.name]["selection_return"],
            tuple(results[each.name]["records"]),
        )
        for each in candidates
        if each.name in results
    ]


def run_candidate(
    config: dict[str, Any],
    source: bytes,
    seed: int,
    number: int,
    beginning: Beginning,
    folder: str,
    times: dict[str, Any],
    until: str,
    reuse: str | None,
    report: Reporter,
) -> dict[str, Any]:
    """The job of a worker process: one candidate, as plain JSON."""
    enable_compilation_cache()
    task = task_of(EnvSource.from_bytes(source))
    directory = RunDirectory(Path(folder))
    with directory.locked():
        done = _run(
            from_dict(TrainConfig, config),
            task,
            seed,
            Candidate(number, beginning),
            directory,
            report,
            TimeLeft.from_dict(times),
            None if reuse is None else Path(reuse),
            until,
        )
    return {
        "policy": done.tree.to_dict(),
        "selection_return": done.selection_return,
        "records": list(done.records),
        "settled": done.records[-1].get("settled", False),
    }


def _run(
    config: TrainConfig,
    task: Task,
    seed: int,
    candidate: Candidate,
    directory: RunDirectory,
    report: Reporter,
    times: TimeLeft,
    reuse: Path | None,
    until: str = "last",
) -> Finished:
    stages = plan(candidate.beginning, config)
    n_first = len(first_stages(candidate.beginning, config))
    wanted = stages if until == "last" else stages[:n_first]
    made, records = run_stages(
        wanted,
        task,
        config,
        candidate_seed(seed, candidate.number),
        directory,
        report,
        minutes=times.minutes,
        reuse=reuse,
        measured=times.measured,
        latest=times.latest,
    )
    assert made.tree is not None
    scored = [each for each in records if each.get("selection_return") is not None]
    return Finished(candidate, made.tree, scored[-1]["selection_return"], tuple(records))
