"""Candidates that race leg by leg, on CartPole, in small."""

from pathlib import Path

import pytest
from runs import Stopped, read, timeless
from small import small_config

from crisptree.crisp import CrispTree
from crisptree.envs.task import task_of
from crisptree.pipeline.candidates import (
    Candidate,
    Finished,
    Outcome,
    candidates_of,
    has_lost,
    later_weight,
    up_to_settled,
)
from crisptree.pipeline.config import CandidateConfig, TrainConfig
from crisptree.pipeline.plan import legs
from crisptree.pipeline.resolve import resolve
from crisptree.pipeline.timing import Measurement
from crisptree.pipeline.train import train

CONFIG = small_config(candidates=CandidateConfig(("direct", "mlp"), 2, 2))


@pytest.fixture(scope="module")
def task():
    return task_of("CartPole-v1")


@pytest.fixture(scope="module")
def run(task, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("race") / "run"
    train(CONFIG, task, path)
    return path


def test_each_leg_goes_on_from_the_best_tree_of_the_one_before(run):
    summary = read(run / "summary.json")
    scores = summary["candidates"]
    assert list(scores) == ["first", "cut-2", "search", "last"]
    assert set(scores["first"]) == {"0-direct", "1-mlp"}
    best = max(scores["first"], key=lambda name: scores["first"][name])
    beginning = best.partition("-")[2]
    for leg in list(scores)[1:]:
        assert set(scores[leg]) == {f"0-{beginning}", f"1-{beginning}"}
    assert summary["beginning"] == beginning
    assert summary["selection_return"] == max(scores["last"].values())
    first = read(run / "candidates" / best / "leg-00.json")
    assert 8 < first["episode_length"] < 500


@pytest.mark.parametrize(
    ("first", "last", "settled", "lost"),
    [
        (500.0, 430.0, False, True),
        (500.0, 490.0, False, False),
        (-80.0, -90.0, False, True),
        (-80.0, -82.0, False, False),
        (500.0, 430.0, True, False),
    ],
)
def test_a_tree_has_lost_if_cuts_cost_more_than_a_twentieth(run, first, last, settled, lost):
    tree = CrispTree.load(run / "policy.json")
    best = Finished(Candidate(0, "direct"), tree, last, (), (), settled)
    scores = {"first": {"0-direct": first, "1-mlp": first - 100}, "last": {"0-direct": last}}
    assert has_lost(Outcome(best, scores, 0, 0.0)) is lost


def test_every_round_has_candidates_of_its_own():
    names = [[each.name for each in candidates_of(CONFIG, round_)] for round_ in range(2)]
    assert names == [["0-direct", "1-mlp"], ["2-direct", "3-mlp"]]


def test_steps_that_were_asked_for_are_not_taken_again(run):
    """What a few steps teach is lost when it is cut, and there is no end to the time."""
    assert {path.name[:1] for path in (run / "candidates").iterdir()} == {"0", "1"}


def test_the_stages_are_those_on_the_way_to_the_tree(run):
    summary = read(run / "summary.json")
    names = [record["stage"] for record in summary["stages"]]
    config = resolve(CONFIG, task_of("CartPole-v1"), Measurement(1e6, 20.0))
    planned = [stage.name for leg in legs(summary["beginning"], config) for stage in leg.stages]
    assert names == planned
    last = run / "candidates" / summary["candidate"] / "stages" / f"{len(names):02d}-{names[-1]}"
    ours, theirs = CrispTree.load(run / "policy.json"), CrispTree.load(last / "policy.json")
    assert (ours.feature == theirs.feature).all() and (ours.threshold == theirs.threshold).all()


@pytest.mark.parametrize("stop", [("0-direct/direct", 3), ("1-", 9), ("scoring", 1)])
def test_a_race_that_was_interrupted_ends_as_if_it_had_not_been(run, task, tmp_path, stop):
    out = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        train(CONFIG, task, out, report=Stopped(*stop))
    train(CONFIG, task, out, resume=True)
    assert (out / "policy.json").read_bytes() == (run / "policy.json").read_bytes()
    assert timeless(read(out / "summary.json")) == timeless(read(run / "summary.json"))


def config_of(*beginnings) -> TrainConfig:
    return small_config("Pendulum-v1", candidates=CandidateConfig(beginnings, len(beginnings)))


@pytest.mark.parametrize(
    ("settled", "counted"),
    [
        ({}, None),
        ({0: True}, 1),
        ({0: True, 2: True}, 1),
        ({1: True}, None),  # whether the first one is settled is not known yet
        ({0: False, 1: True}, 2),
        ({0: False, 2: True}, None),
        ({0: False, 1: False, 2: True}, 3),
        ({0: False, 1: False, 2: False}, None),
    ],
)
def test_those_after_the_first_settled_one_do_not_count(settled, counted):
    candidates = [Candidate(i, "direct") for i in range(3)]
    results = {f"{i}-direct": {"settled": value} for i, value in settled.items()}
    expected = None if counted is None else candidates[:counted]
    assert up_to_settled(candidates, results) == expected


def test_first_trees_take_their_share_where_there_are_workers_enough():
    config = config_of("mlp", "mlp")
    _, *rest = legs("mlp", config)
    later = later_weight(config, 0, ["mlp", "mlp"], n_workers=2)
    assert later == pytest.approx(sum(leg.weight for leg in rest))
    assert later_weight(config, len(rest), ["mlp"], n_workers=1) == 0


def test_candidates_that_wait_for_a_worker_share_the_time_of_the_slowest():
    config = config_of("mlp", "mlp")
    first, *rest = legs("mlp", config)
    later = later_weight(config, 0, ["mlp", "mlp"], n_workers=1)
    alone = first.weight / (first.weight + sum(leg.weight for leg in rest))
    assert first.weight / (first.weight + later) == pytest.approx(alone / 2)
