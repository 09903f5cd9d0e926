"""How candidates share the time."""

import pytest
from small import small_config

from crisptree.crispen.evolve import one_rule
from crisptree.envs.task import task_of
from crisptree.pipeline.candidates import (
    Candidate,
    Finished,
    candidates_of,
    first_minutes,
    last_minutes,
)
from crisptree.pipeline.config import CandidateConfig
from crisptree.pipeline.plan import first_stages, plan


def config_of(*beginnings, workers):
    candidates = CandidateConfig(beginnings, len(beginnings), workers=workers)
    return small_config("Pendulum-v1", candidates=candidates)


def share(beginning, config) -> float:
    first, whole = first_stages(beginning, config), plan(beginning, config)
    return sum(stage.weight for stage in first) / sum(stage.weight for stage in whole)


def test_first_trees_take_their_share_where_there_are_workers_enough():
    config = config_of("mlp", "sac", workers=2)
    minutes = first_minutes(config, candidates_of(config), 10.0)
    assert minutes == pytest.approx([10 * share("mlp", config), 10 * share("sac", config)])


def test_first_trees_of_more_candidates_than_workers_share_the_time_of_the_slowest():
    config = config_of("mlp", "rule", "sac", workers=1)
    minutes = first_minutes(config, candidates_of(config), 10.0)
    assert sum(each or 0 for each in minutes) == pytest.approx(10 * share("mlp", config))


def test_what_was_spent_waiting_is_not_there_for_the_last_trees():
    first = [finished(seconds) for seconds in (60.0, 120.0)]
    assert last_minutes(first, 10.0, elapsed=5.0) == pytest.approx([6.0, 7.0])
    assert last_minutes(first, 10.0, elapsed=0.1) == pytest.approx([9.0, 10.0])  # resumed
    assert last_minutes(first, None, elapsed=5.0) == [None, None]


def finished(seconds: float) -> Finished:
    tree = one_rule(task_of("Pendulum-v1"))
    return Finished(Candidate(0, "mlp"), tree, 0.0, ({"seconds": seconds},))
