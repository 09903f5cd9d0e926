"""Real runs, four updates each."""

import dataclasses
import shutil
from pathlib import Path

import numpy as np
import pytest
from crisptree.lab.experiments.agents import revived
from crisptree.lab.experiments.scoring import Acting, reported
from crisptree.pipeline.report import Silent
from crisptree.score_policy import evaluate
from made import ENV

from crisptree.envs.spaces import describe
from crisptree.lab.experiments.cell import Cell
from crisptree.lab.experiments.run_cell import Finished, Watched, run_cell, settings_of
from crisptree.pipeline import keeper

SOFT = Cell(ENV, "soft-tree", 2, 0, 2, 4)


def timeless(record) -> str:
    seeds = [dataclasses.replace(seed, seconds=None) for seed in record.seeds]
    return dataclasses.replace(record, seeds=tuple(seeds)).to_text()


def run(cell: Cell, folder: Path, watched: Watched | None = None) -> Finished:
    return run_cell(cell, watched, folder, folder / "kept", Silent())


@pytest.fixture(scope="module")
def soft(tiny, tmp_path_factory):
    return run(SOFT, tmp_path_factory.mktemp("soft"))


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
    done = run(cell, tmp_path, Watched(SOFT, soft.agents[0]))
    (seed,) = done.record.seeds
    assert seed.seed == 1 and seed.tree().n_leaves <= 4 and done.agents == {}
    assert seed.crisp_returns == evaluate(seed.tree(), episodes=3, seed=1).returns


@pytest.mark.parametrize("model", ["crisp-tree", "crisp-list"])
def test_crisp_policies_and_what_they_were_before_the_last_cuts(tiny, tmp_path, model):
    cell = Cell(ENV, model, 2, 0, 1, 3, route="direct")
    (seed,) = run(cell, tmp_path).record.seeds
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
        run(SOFT, tmp_path)
    monkeypatch.setattr(keeper.Keeper, "finish", finish)
    assert timeless(run(SOFT, tmp_path).record) == timeless(soft.record)
    shutil.rmtree(tmp_path)


@pytest.mark.parametrize("model", ["random", "scripted"])
def test_policies_nobody_trains(tmp_path, model):
    cell = Cell(ENV, model, None, 0, 1, 5)
    done = run(cell, tmp_path)
    assert done.record.command is None and len(done.record.seeds[0].soft_returns) == 5
    assert np.mean(done.record.seeds[0].soft_returns) > 5


@pytest.mark.parametrize(
    ("route", "how"), [("direct", "--direct"), ("soft", "--teacher soft"), ("mlp", "--teacher mlp")]
)
def test_the_route_is_part_of_the_command(route, how):
    settings = settings_of(Cell("LunarLander-v3", "crisp-list", 8, 3, 1, 100, 9, route=route))
    assert settings is not None
    assert settings.command() == (
        f"crisptree train LunarLander-v3 --rules 8 --seed 3 --steps 9 {how} --starts 1"
    )
