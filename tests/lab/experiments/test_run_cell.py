"""Real runs of a few updates each."""

import dataclasses
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_domain import SMALL, small_cell

from crisptree.envs.evaluate import evaluate
from crisptree.envs.task import task_of
from crisptree.lab.experiments.run_cell import (
    FinishedCell,
    Teacher,
    load_learner,
    reported_returns,
    run_cell,
)
from crisptree.learn.acting import greedy
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.config_io import command, config_hash, from_dict
from crisptree.pipeline.progress import Silent

SOFT = small_cell("soft-tree", 2).with_seeds(0, 2)


def timeless(record) -> dict[str, Any]:
    """All of a record but what the clock says."""
    seeds = [dataclasses.replace(seed, seconds=None) for seed in record.seeds]
    return dataclasses.replace(record, seeds=tuple(seeds)).to_dict()


def run(cell, folder: Path, teacher: Teacher | None = None, reuse=None) -> FinishedCell:
    folder.mkdir(exist_ok=True, parents=True)
    return run_cell(cell, teacher, folder, reuse, Silent())


@pytest.fixture(scope="module")
def soft(tmp_path_factory):
    return run(SOFT, tmp_path_factory.mktemp("soft"))


def resolved(done: FinishedCell) -> TrainConfig:
    assert done.record.config is not None
    return from_dict(TrainConfig, done.record.config["resolved"])


def test_seeds_learn_side_by_side_and_each_is_scored(soft):
    assert [seed.seed for seed in soft.record.seeds] == [0, 1]
    for seed in soft.record.seeds:
        assert seed.soft_returns is not None and len(seed.soft_returns) == SOFT.episodes
        played = evaluate(seed.tree, episodes=SOFT.episodes, seed=seed.seed)
        assert seed.crisp_returns == played.returns
        assert seed.soft_selection is not None and seed.crisp_selection is not None
        assert seed.curve and seed.steps == SMALL.config.steps


def test_a_record_holds_its_resolved_configuration_with_its_hash(soft):
    config = resolved(soft)
    assert soft.record.config["hash"] == config_hash(config) and config.steps == SOFT.config.steps
    assert soft.record.command == command(SOFT.config) and "--paper" in soft.record.command
    assert soft.record.key == SOFT.key


def test_an_agent_comes_back_from_its_bytes(soft):
    task = task_of(SOFT.env)
    for seed in soft.record.seeds:
        again = greedy(load_learner(resolved(soft), task, soft.agents[seed.seed]))
        assert reported_returns(again, task, seed.seed, SOFT.episodes) == seed.soft_returns


@pytest.mark.parametrize("model", ["state-action-dt", "dagger-dt"])
def test_imitators_learn_from_an_agent(soft, tmp_path, model):
    cell = dataclasses.replace(small_cell(model, 4), teacher=f"{SOFT.key}#0").with_seeds(1, 2)
    done = run(cell, tmp_path, Teacher(resolved(soft), soft.agents[0]))
    assert [seed.seed for seed in done.record.seeds] == [1, 2] and done.agents == {}
    for seed in done.record.seeds:
        assert seed.tree.n_leaves <= 4
        played = evaluate(seed.tree, episodes=cell.episodes, seed=seed.seed)
        assert seed.crisp_returns == played.returns


@pytest.mark.parametrize("model", ["crisp-tree", "crisp-list"])
def test_crisp_policies_and_what_they_were_before_the_last_cuts(tmp_path, model):
    cell = small_cell(model, 2)
    (seed,) = run(cell, tmp_path).record.seeds
    most = 3 if model == "crisp-list" else 2
    assert seed.tree.n_leaves <= min(most, seed.full_tree.n_leaves)
    assert seed.crisp_returns == evaluate(seed.tree, episodes=cell.episodes, seed=0).returns
    assert seed.curve and seed.steps and seed.tree.feature_names == task_of(cell.env).feature_names


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (small_cell("crisp-tree", 8), small_cell("crisp-list", 4)),
        (
            small_cell("crisp-tree", 4, beginning="mlp"),
            small_cell("crisp-tree", 2, beginning="mlp"),
        ),
        (
            small_cell("crisp-tree", 4, beginning="mlp"),
            small_cell("crisp-list", 2, beginning="mlp"),
        ),
    ],
)
def test_a_record_is_a_function_of_its_key(tmp_path, first, second):
    """In either order, or alone, with shared stages or without: the same policy bytes, the same
    record."""
    alone = {cell.key: run(cell, tmp_path / "alone" / cell.key) for cell in (first, second)}
    for order in ((first, second), (second, first)):
        reuse = tmp_path / f"stages-{order[0].model}-{order[0].size}"
        for cell in order:
            folder = tmp_path / f"run-{reuse.name}" / cell.key
            done = run(cell, folder, reuse=reuse)
            assert timeless(done.record) == timeless(alone[cell.key].record)
        shared = [path for path in reuse.iterdir() if path.is_dir()]
        stages = list((tmp_path / f"run-{reuse.name}").glob("*/*/stages/*"))
        assert len(shared) < len(stages), "something was shared"


def test_an_interrupted_run_goes_on_to_the_same_record(soft, tmp_path):
    class Stop(Silent):
        def advance(self, stage: str, done: float, text: str) -> None:
            if done > 0.6:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_cell(SOFT, None, tmp_path, None, Stop())
    assert timeless(run(SOFT, tmp_path).record) == timeless(soft.record)
    shutil.rmtree(tmp_path)


@pytest.mark.parametrize("model", ["random", "scripted"])
def test_policies_that_nobody_trains(tmp_path, model):
    done = run(small_cell(model, None).with_seeds(0, 2), tmp_path)
    assert done.record.command is None and done.record.config is None
    for seed in done.record.seeds:
        assert np.mean(seed.soft_returns) > 5


def test_a_linear_rule_is_one_leaf_that_acts_as_what_was_trained(tmp_path):
    cell = small_cell("linear-rule", None, env="Pendulum-v1").with_seeds(0, 2)
    done = run(cell, tmp_path)
    task, states = task_of(cell.env), np.random.default_rng(0).normal(size=(50, 3))
    for seed in done.record.seeds:
        assert seed.tree.n_leaves == 1 and {f for _, f, _ in seed.tree.gains[0]} == {0, 1, 2}
        policy = greedy(load_learner(resolved(done), task, done.agents[seed.seed]))
        np.testing.assert_allclose(
            seed.tree.act(states), policy.act(states.astype(np.float32)), atol=1e-4
        )
        played = evaluate(seed.tree, episodes=cell.episodes, seed=seed.seed)
        assert seed.crisp_returns == played.returns


@pytest.mark.parametrize("model", ["soft-list", "crisp-tree"])
def test_real_actions_are_learned_too(tmp_path, model):
    cell = small_cell(model, 2, env="Pendulum-v1")
    (seed,) = run(cell, tmp_path).record.seeds
    assert seed.crisp_returns is not None and max(seed.crisp_returns) < 0
