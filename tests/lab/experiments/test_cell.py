import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_records import CARTPOLE, LANDER, MINE

from crisptree.base.errors import CrisptreeError
from crisptree.lab.experiments.cell import Cell, cell_of
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.config_io import config_hash, with_overrides

CELL = cell_of(CARTPOLE, "mlp", 2, 100, {}).with_seeds(0, 5)


def test_a_key_is_readable_and_safe_as_a_path():
    assert CELL.key.startswith("cartpole-v1/mlp-2-seeds-0-4-")
    odd = Cell("mlp", with_overrides(CELL.config, {"env.id": "my mod:../Env/x"})).key
    assert odd.count("/") == 1 and ".." not in odd.split("/")[0][:2] and " " not in odd


@pytest.mark.parametrize(
    "change",
    [
        {"env.id": "CartPole-v0"},
        {"policy.size": 3},
        {"seed": 1},
        {"seeds": 4},
        {"episodes": 99},
        {"steps": 10},
        {"ppo.gamma": 0.9},
        {"search.patience": 1},
        {"teacher.leaves": 16},
    ],
)
def test_whatever_differs_makes_another_run(change):
    other = Cell(CELL.model, with_overrides(CELL.config, change))
    assert other.key != CELL.key and config_hash(other.config) != config_hash(CELL.config)


def test_a_run_does_not_depend_on_where_it_runs():
    other = with_overrides(CELL.config, {"candidates.workers": 7, "candidates.executor": "ray"})
    assert Cell("mlp", other).key == CELL.key


def test_model_teacher_and_script_are_part_of_a_run():
    keys = {
        CELL.key,
        dataclasses.replace(CELL, model="linear-rule").key,
        dataclasses.replace(CELL, teacher="x#0").key,
        dataclasses.replace(CELL, script="nearest_fire").key,
    }
    assert len(keys) == 4


@given(st.integers(0, 99), st.integers(1, 9), st.one_of(st.none(), st.floats(1e-6, 1)))
def test_a_cell_comes_back_from_its_dictionary(seed, count, rate):
    overrides = {"paper.learning_rate": rate}
    cell = cell_of(CARTPOLE, "soft-list", 4, 10, overrides).with_seeds(seed, count)
    again = Cell.from_dict(cell.to_dict())
    assert again == cell and again.key == cell.key


def test_the_variant_forgets_the_seeds_only():
    assert CELL.with_seeds(3, 1).variant == CELL.variant
    assert cell_of(CARTPOLE, "mlp", 4, 100, {}).variant != CELL.variant


def test_what_a_model_does_not_depend_on_does_not_change_its_key():
    steps = {"steps": 10}
    assert (
        cell_of(CARTPOLE, "random", None, 9, steps).key
        == cell_of(CARTPOLE, "random", None, 9, {}).key
    )
    assert (
        cell_of(CARTPOLE, "dagger-dt", 4, 9, steps).key
        == cell_of(CARTPOLE, "dagger-dt", 4, 9, {}).key
    )


def test_the_outcome_does_not_hang_on_the_number_of_cores():
    for domain in (CARTPOLE, LANDER, MINE):
        assert cell_of(domain, "crisp-tree", 4, 9, {}).config.candidates.tries is not None


def test_minutes_and_strange_things_are_refused():
    with pytest.raises(CrisptreeError, match="steps, not minutes"):
        Cell("mlp", TrainConfig(budget=1.0))
    for change, says in (
        ({"model": "forest"}, "no model 'forest'"),
        ({"model": ["mlp"]}, "no model"),
        ({"teacher": 3}, "must be text"),
    ):
        with pytest.raises(CrisptreeError, match=says):
            Cell.from_dict({**CELL.to_dict(), **change})
    with pytest.raises(CrisptreeError, match="not a cell"):
        Cell.from_dict({"model": "mlp"})
    with pytest.raises(CrisptreeError, match="no script for Mine-v0"):
        cell_of(MINE, "scripted", None, 9, {})
