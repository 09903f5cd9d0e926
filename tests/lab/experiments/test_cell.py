import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crisptree.base.errors import CrisptreeError
from crisptree.lab.experiments.cell import Cell

CELL = Cell("CartPole-v1", "mlp", 2, 0, 5, 100)


def test_a_key_is_readable_and_safe_as_a_path():
    assert CELL.key.startswith("cartpole-v1/mlp-2-seeds-0-4-")
    odd = dataclasses.replace(CELL, env="my mod:../Env/x").key
    assert odd.count("/") == 1 and ".." not in odd.split("/")[0][:2] and " " not in odd


@pytest.mark.parametrize(
    "change",
    [
        {"env": "CartPole-v0"},
        {"model": "soft-tree"},
        {"size": 3},
        {"first_seed": 1},
        {"n_seeds": 4},
        {"episodes": 99},
        {"steps": 10},
        {"learning_rate": 0.1},
        {"teacher": "x#0"},
    ],
)
def test_whatever_differs_makes_another_run(change):
    assert dataclasses.replace(CELL, **change).key != CELL.key


@given(st.integers(0, 99), st.integers(1, 9), st.one_of(st.none(), st.floats(1e-6, 1)))
def test_a_cell_comes_back_from_its_dictionary(seed, count, rate):
    cell = Cell("CartPole-v1", "soft-list", 4, seed, count, 10, learning_rate=rate)
    again = Cell.from_dict(cell.to_dict())
    assert again == cell and again.key == cell.key


def test_the_variant_forgets_the_seeds_only():
    other = dataclasses.replace(CELL, first_seed=3, n_seeds=1)
    assert other.variant == CELL.variant
    assert dataclasses.replace(CELL, size=4).variant != CELL.variant


def test_only_learned_models_have_a_size():
    with pytest.raises(CrisptreeError, match="only learned models"):
        Cell("CartPole-v1", "random", 4, 0, 1, 10)
    with pytest.raises(CrisptreeError, match="only learned models"):
        Cell("CartPole-v1", "mlp", None, 0, 1, 10)


def test_crisp_models_come_by_a_route_and_others_do_not():
    with pytest.raises(CrisptreeError, match="only crisp ones have one"):
        Cell("CartPole-v1", "mlp", 4, 0, 1, 10, route="direct")
    with pytest.raises(CrisptreeError, match="only crisp ones have one"):
        Cell("CartPole-v1", "crisp-tree", 4, 0, 1, 10)


def test_strange_fields_are_refused():
    with pytest.raises(CrisptreeError, match="not a cell"):
        Cell.from_dict({**CELL.to_dict(), "colour": "red"})
