"""One leg of one candidate, and what its tree earns at the end: the score that decides which
candidate's tree goes on.

All candidates play the same selection episodes, which no stage has seen.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from crisptree.crisp import CrispTree
from crisptree.crispen.mend import is_lost
from crisptree.crispen.pace import Timetable
from crisptree.crispen.select import Selection
from crisptree.envs.source import EnvSource
from crisptree.envs.task import Task, task_of
from crisptree.learn.compilation_cache import enable_compilation_cache
from crisptree.learn.exact_model import exact_model
from crisptree.pipeline.config import MOST_CANDIDATES, Beginning, TrainConfig
from crisptree.pipeline.config_io import from_dict
from crisptree.pipeline.plan import legs
from crisptree.pipeline.progress import Reporter
from crisptree.pipeline.resolve import for_episodes_of
from crisptree.pipeline.run_directory import RunDirectory
from crisptree.pipeline.runner import Before, candidate_seed, run_stages, stage_seed
from crisptree.pipeline.stage import Artifacts, is_settled, load_artifacts
from crisptree.pipeline.timing import TimeLeft


def run_leg(
    config: dict[str, Any],
    source: bytes,
    seed: int,
    number: int,
    beginning: Beginning,
    leg: int,
    folder: str,
    before: dict[str, Any] | None,
    times: dict[str, Any],
    later: float,
    reuse: str | None,
    report: Reporter,
) -> dict[str, Any]:
    """The job of a worker process: one leg of one candidate, as plain JSON."""
    enable_compilation_cache()
    task, whole = task_of(EnvSource.from_bytes(source)), from_dict(TrainConfig, config)
    if before is not None:
        whole = for_episodes_of(whole, before["episode_length"])
    directory, time_left = RunDirectory(Path(folder)), TimeLeft.from_dict(times)
    with directory.locked():
        made, records = run_stages(
            legs(beginning, whole, number)[leg].stages,
            task,
            whole,
            candidate_seed(seed, number),
            directory,
            report,
            before=Before() if before is None else _loaded_inputs(before, whole, task),
            minutes=time_left.minutes,
            later=later,
            reuse=None if reuse is None else Path(reuse),
            measured=time_left.measured,
            latest=time_left.latest,
        )
        assert made.tree is not None
        result = {
            "before": "" if before is None else before["key"],
            "policy": made.tree.to_dict(),
            "records": records,
            **score_of_leg(made, whole, task, seed, leg, time_left),
        }
        directory.write_checked(record_of(leg), result)
    return result


def _loaded_inputs(before: dict[str, Any], config: TrainConfig, task: Task) -> Before:
    """The artifacts that the best candidate of the leg before has saved."""
    made = load_artifacts(Path(before["folder"]), Artifacts(), config, task)
    figures = {"settled": True} if before["settled"] else {}
    made = replace(made, pace=before["pace"], best_return=before["best_return"], figures=figures)
    return Before(made, before["key"], before["n_stages"])


def record_of(leg: int) -> str:
    """The name of the file with the result of a leg."""
    return f"leg-{leg:02d}.json"


def score_of_leg(
    made: Artifacts, config: TrainConfig, task: Task, seed: int, leg: int, times: TimeLeft
) -> dict[str, Any]:
    """The score that decides which tree goes on, on the same selection episodes for every
    candidate, and their length; None where there is no time to play all of them to their end."""
    assert made.tree is not None
    selection = _selection(config, task, seed, leg, times)
    found = _score(made, selection, config, task)
    return {**found, "episode_length": round(selection.episode_length, 1)}


def _score(
    made: Artifacts, selection: Selection, config: TrainConfig, task: Task
) -> dict[str, Any]:
    assert made.tree is not None
    if "worst_case" in made.figures:  # the worst starts decide
        settled = bool(made.figures["settled"])
        return {"selection_return": made.figures["worst_case"], "settled": settled}
    score = whole_mean(selection.careful(), made.tree, config.selection.final)
    if score is None:
        return {"selection_return": None, "settled": bool(made.figures.get("settled"))}
    settled = bool(made.figures.get("settled"))
    if "lost" not in made.figures:  # else the tree was played in more episodes already
        settled = settled or is_settled(
            made.tree, made.best_return, selection, config.selection.settled
        )
    if exact_model(task) is None and is_lost(np.array([score]), made.best_return).any():
        settled = False  # of other episodes the tree has lost some after all
    return {"selection_return": score, "settled": settled}


def scores_together(
    trees: Sequence[CrispTree],
    config: TrainConfig,
    task: Task,
    seed: int,
    leg: int,
    times: TimeLeft,
) -> list[float]:
    """What trees earn that play side by side, on as many selection episodes as there is time for.
    Where episodes must be cut, they are cut at the same length for all: a part of an episode says
    nothing beside a longer part of another."""
    selection = _selection(config, task, seed, leg, times).careful()
    return selection.returns(trees, config.selection.final).mean(1).tolist()


def _selection(config: TrainConfig, task: Task, seed: int, leg: int, times: TimeLeft) -> Selection:
    """The selection episodes of a leg, the same for every candidate."""
    scale = 1.0 if config.selection.scale is None else config.selection.scale
    judge = stage_seed(candidate_seed(seed, MOST_CANDIDATES), f"leg-{leg}")
    until = Timetable(time.monotonic() + times.seconds_to_choose())
    return Selection(task, judge, scale, exact_model(task), until, times.pace(task))


def whole_mean(selection: Selection, tree: CrispTree, episodes: int) -> float | None:
    """The mean return of so many whole episodes; None where time does not suffice for them."""
    if not selection.affords(1, episodes):
        return None
    until = selection.until()
    score = selection.mean(tree, episodes)
    return score if time.monotonic() < until else None
