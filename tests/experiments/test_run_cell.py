"""Real runs, four updates each."""

import dataclasses
import shutil

import numpy as np
import pytest
from made import ENV

from crisptree.envs.spaces import describe
from crisptree.experiments.agents import revived
from crisptree.experiments.cell import Cell
from crisptree.experiments.run_cell import Watched, run_cell, settings_of
from crisptree.experiments.scoring import Acting, reported
from crisptree.pipeline import keeper
from crisptree.pipeline.report import Silent
from crisptree.score_policy import evaluate

SOFT = Cell(ENV, "soft-tree", 2, 0, 2, 4)


def timeless(record) -> dict:
    seeds = [dataclasses.replace(seed, seconds=None) for seed in record.seeds]
    return dataclasses.replace(record, seeds=tuple(seeds)).to_text()


@pytest.fixture(scope="module")
def soft(tiny, tmp_path_factory):
    return run_cell(SOFT, None, tmp_path_factory.mktemp("soft"), Silent())


def test_seeds_learn_side_by_side_and_each_is_scored(soft):
    assert [seed.seed for seed in soft.record.seeds] == [0, 1]
    for seed in soft.record.seeds:
        assert seed.soft_returns is not None and len(seed.soft_returns) == 4
        assert seed.crisp_returns == evaluate(seed.tree(), episodes=4, seed=seed.seed).returns
        assert seed.soft_selection is not None and seed.crisp_selection is not None
        assert seed.curve and seed.steps == 4 * 128
    assert soft.record.command == settings_of(SOFT).command()
    assert "--paper" in soft.record.command and "--seeds 2" in soft.record.command


def test_an_agent_comes_back_from_its_bytes(soft):
    for seed in soft.record.seeds:
        again = Acting(revived(SOFT, soft.agents[seed.seed]))
        assert reported(again, ENV, seed.seed, 4) == seed.soft_returns


@pytest.mark.parametrize("model", ["state-action-dt", "dagger-dt"])
def test_imitators_watch_an_agent(soft, tmp_path, model):
    cell = Cell(ENV, model, 4, 1, 1, 3, teacher=f"{SOFT.key}#0")
    done = run_cell(cell, Watched(SOFT, soft.agents[0]), tmp_path, Silent())
    (seed,) = done.record.seeds
    assert seed.seed == 1 and seed.tree().n_leaves <= 4 and done.agents == {}
    assert seed.crisp_returns == evaluate(seed.tree(), episodes=3, seed=1).returns


@pytest.mark.parametrize("model", ["crisp-tree", "crisp-list"])
def test_crisp_policies_and_what_they_were_before_the_last_cuts(tiny, tmp_path, model):
    cell = Cell(ENV, model, 2, 0, 1, 3)
    (seed,) = run_cell(cell, None, tmp_path, Silent()).record.seeds
    most = 3 if model == "crisp-list" else 2
    assert seed.tree().n_leaves <= min(most, seed.full_tree().n_leaves)
    assert seed.crisp_returns == evaluate(seed.tree(), episodes=3, seed=0).returns
    assert seed.curve and describe(ENV).feature_names == seed.tree().feature_names


def test_an_interrupted_run_goes_on_to_the_same_record(soft, tmp_path, monkeypatch):
    finish = keeper.Keeper.finish

    def stop(self, *arguments, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr(keeper.Keeper, "finish", stop)
    with pytest.raises(KeyboardInterrupt):
        run_cell(SOFT, None, tmp_path, Silent())
    monkeypatch.setattr(keeper.Keeper, "finish", finish)
    assert timeless(run_cell(SOFT, None, tmp_path, Silent()).record) == timeless(soft.record)
    shutil.rmtree(tmp_path)


@pytest.mark.parametrize("model", ["random", "scripted"])
def test_policies_nobody_trains(tmp_path, model):
    cell = Cell(ENV, model, None, 0, 1, 5)
    done = run_cell(cell, None, tmp_path, Silent())
    assert done.record.command is None and len(done.record.seeds[0].soft_returns) == 5
    assert np.mean(done.record.seeds[0].soft_returns) > 5


def test_host_environments_have_a_teacher_and_one_start():
    settings = settings_of(Cell("LunarLander-v3", "crisp-list", 8, 3, 1, 100, steps=9))
    assert settings is not None
    assert settings.command() == (
        "crisptree train LunarLander-v3 --rules 8 --seed 3 --steps 9 --teacher mlp --starts 1"
    )
