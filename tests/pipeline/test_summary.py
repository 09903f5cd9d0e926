from dataclasses import replace

import numpy as np
import pytest
from small import small_config

from crisptree.envs.evaluate import Baselines
from crisptree.envs.task import task_of
from crisptree.pipeline.config import CandidateConfig, PaperConfig, TrainConfig
from crisptree.pipeline.summary import (
    BETTER,
    HALF_KNOWN,
    UNKNOWN,
    gap,
    gathered,
    in_words,
    scored,
    teacher_return,
    what_to_try,
)

NOTHING = Baselines(20.0, 9.0, 0, 64)


def summary_of(returns, soft=None):
    figures = scored(np.asarray(returns, float), NOTHING)
    return {
        "seed": 3,
        "leaves": 4,
        "depth": 2,
        "soft_return": soft,
        "seconds": 1.0,
        **figures,
        **gap(soft, figures),
    }


def test_the_score_has_its_error_quantiles_and_worst_episode():
    figures = scored(np.array([100.0, 200.0, 300.0]), NOTHING)
    assert figures["crisp_return"] == 200
    assert figures["crisp_return_se"] == pytest.approx(100 / 3**0.5)
    assert figures["crisp_return_min"] == 100
    assert figures["quantiles"]["0.5"] == 200
    assert figures["verdict"] == "better than random and constant"


def test_a_policy_that_learned_nothing_is_called_that():
    tried = {"to_try": what_to_try(small_config(), task_of("CartPole-v1"))}
    lines = "\n".join(in_words({**summary_of([19.0, 21.0, 20.0]), **tried}))
    assert "no better than random" in lines
    assert "--teacher dqn" in lines


def test_what_to_try_goes_with_the_task_and_was_not_done():
    cart, torque = task_of("CartPole-v1"), task_of("Pendulum-v1")
    by_dqn = small_config(candidates=CandidateConfig(("dqn",)))
    assert "dqn" not in what_to_try(by_dqn, cart)
    assert "dqn" not in what_to_try(small_config("Pendulum-v1"), torque)
    assert "--policy.leaf linear" in what_to_try(small_config("Pendulum-v1"), torque)
    paper = TrainConfig(paper=PaperConfig(enabled=True))
    assert "without --paper" in what_to_try(paper, cart)
    steps = replace(small_config(), steps=1000, budget=None)
    assert "more --steps" in what_to_try(steps, cart)
    assert "a longer --budget" in what_to_try(replace(steps, budget=1.0), cart)


def test_quantiles_are_told():
    first = in_words(summary_of([100.0, 200.0, 300.0]))[0]
    assert "(worst 100, 5% below 110, median 200)" in first


def test_a_policy_no_better_than_a_constant_action_is_called_that():
    figures = scored(np.full(4, 8.0), Baselines(-5.0, 8.0, 1, 64))
    assert figures["verdict"] == "no better than a constant action"
    rounded = scored(np.full(4, 8.000000000000002), Baselines(-5.0, 8.0, 1, 64))
    assert rounded["verdict"] == "no better than a constant action"
    assert scored(np.full(4, 8.00001), Baselines(-5.0, 8.0, 1, 64))["verdict"] == BETTER


def test_small_returns_keep_their_digits():
    figures = scored(np.array([0.731, 0.735]), Baselines(0.013, 0.02, 1, 64))
    lines = in_words({**summary_of([1.0, 2.0]), **figures})
    assert "0.733" in lines[0]


def test_the_gap_is_told_in_words():
    assert "earns no less than the soft policy" in "\n".join(
        in_words(summary_of([250.0, 260.0], soft=240.0))
    )
    assert "earns 45" in "\n".join(in_words(summary_of([250.0, 260.0], soft=300.0)))


def test_every_seed_is_shown():
    every = [{**summary_of([250.0, 260.0]), "seed": seed} for seed in range(2)]
    summary = gathered(small_config(), every)
    assert summary["crisp_return"]["every"] == [255.0, 255.0]
    assert summary["crisp_return"]["min"] == 255.0
    assert in_words(summary)[-1].startswith("mean over 2 seeds 255")


def test_where_nothing_could_be_compared_that_is_said():
    figures = scored(np.array([1.0, 2.0]), Baselines(None, None, None, 0))
    run = {**summary_of([1.0, 2.0], soft=2.0), **figures, **gap(2.0, figures)}
    assert run["gap_share"] is None
    lines = in_words(run)
    assert "random play" not in "\n".join(lines)
    assert lines[-1].strip() == UNKNOWN


def test_a_tree_that_was_not_compared_with_constant_actions_is_not_called_better_than_them():
    figures = scored(np.array([19.0, 20.0]), Baselines(10.0, None, None, 4))
    run = {**summary_of([1.0, 2.0], soft=2.0), **figures, **gap(2.0, figures)}
    assert in_words(run)[-1].strip() == figures["verdict"] == HALF_KNOWN
    worse = scored(np.array([9.0, 10.0]), Baselines(10.0, None, None, 4))
    assert worse["verdict"] == "no better than random"


def test_an_exact_mean_decides_where_it_is_known():
    noisy = np.array([900.0, 2100.0])
    baselines = Baselines(-100.0, 1550.0, 3, 0)
    assert scored(noisy, baselines)["verdict"] == "no better than a constant action"
    figures = scored(noisy, baselines, {"exact_return": 1579.3, "optimum": 1579.5})
    assert figures["verdict"] == BETTER
    run = {**figures, "seed": 0, "leaves": 9, "depth": 4}
    said = "\n".join(in_words(run))
    assert "by the environment's own model the mean return is 1579.3; at best it is 1579.5" in said


def test_fewer_episodes_than_asked_for_and_cut_ones_are_told():
    figures = scored(np.array([100.0, 200.0]), NOTHING, asked=100)
    assert (figures["episodes"], figures["episodes_asked"]) == (2, 100)
    lines = "\n".join(in_words({**summary_of([1.0, 2.0]), **figures, "cut_episodes": 1}))
    assert "100 episodes were asked for; there was no time for more" in lines
    assert "1 of them did not end and were cut" in lines
    assert "episodes_asked" not in scored(np.array([100.0, 200.0]), NOTHING, asked=2)


def test_the_teacher_is_told_too():
    records = [
        {"stage": "teacher-rule"},
        {"stage": "distill", "teacher_return": 30.0},
        {"stage": "refine-4", "training_return": 50.0},
    ]
    assert teacher_return(records) == 30.0
    assert teacher_return(records[2:]) is None
    summary = {**summary_of([40.0, 41.0]), "teacher_return": 30.0}
    assert "the teacher 30" in "\n".join(in_words(summary))
