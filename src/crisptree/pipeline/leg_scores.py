"""What the trees of candidates earn at the end of a leg: the scores that decide which tree goes on.

All candidates play the same selection episodes, which no stage has seen.
"""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from crisptree.crisp import CrispTree
from crisptree.crispen.mend import is_lost
from crisptree.crispen.pace import Timetable
from crisptree.crispen.select import Selection
from crisptree.envs.task import Task
from crisptree.learn.exact_model import exact_model
from crisptree.pipeline.config import MOST_CANDIDATES, TrainConfig
from crisptree.pipeline.runner import candidate_seed, stage_seed
from crisptree.pipeline.stage import Artifacts, is_settled
from crisptree.pipeline.timing import TimeLeft


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
