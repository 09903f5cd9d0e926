import dataclasses

import pytest
from made import ENV, made

from crisptree.base.errors import CrisptreeError
from crisptree.lab.experiments.plan import Grid, best_agent, relevant, wanted

GRID = Grid(
    (ENV,),
    ("mlp", "crisp-tree", "state-action-dt", "random"),
    leaves=(2, 4),
    hidden_layers=(0, 1),
    n_seeds=3,
    episodes=2,
)


def names(cells) -> list[str]:
    return [cell.name.removeprefix("cartpole-v1 ") for cell in cells]


def test_seeds_of_learners_go_together_and_imitators_wait():
    assert names(wanted(GRID, [])) == [
        "mlp 0 seed 0–2",
        "mlp 1 seed 0–2",
        *(f"crisp-tree {size} seed {seed}" for size in (2, 4) for seed in range(3)),
        *(f"random seed {seed}" for seed in range(3)),
    ]


def test_what_is_done_is_left_out_and_more_seeds_are_cheap():
    records = [made("mlp", 0, (1.0, 1.0, 1.0)), made("mlp", 1, (1.0,), first_seed=1)]
    left = names(wanted(GRID, records))
    assert left[:2] == ["mlp 1 seed 0", "mlp 1 seed 2"]
    more = dataclasses.replace(GRID, n_seeds=5)
    assert names(wanted(more, records))[0] == "mlp 0 seed 3–4"


def test_imitators_watch_the_best_agent_once_all_have_learned():
    records = [made("mlp", 0, (1.0, 5.0, 2.0)), made("mlp", 1, (3.0, 3.0, 3.0))]
    best = f"{records[0].cell.key}#1"
    assert best_agent(ENV, records) == best
    imitators = [c for c in wanted(GRID, records) if c.model == "state-action-dt"]
    assert len(imitators) == 6 and {c.teacher for c in imitators} == {best}


def test_a_better_agent_makes_other_imitators():
    worse, better = made("mlp", 0, (1.0, 1.0, 1.0)), made("mlp", 1, (2.0, 2.0, 2.0))
    old = made("state-action-dt", 2, (1.0,), teacher=f"{worse.cell.key}#0")
    records = [worse, better, old]
    assert old not in relevant(GRID, records)
    teachers = {c.teacher for c in wanted(GRID, records) if c.model == "state-action-dt"}
    assert teachers == {f"{better.cell.key}#0"}


def test_a_failed_learner_does_not_hold_up_the_imitators():
    record = made("mlp", 0, (1.0, 1.0, 1.0))
    failed = {cell.key for cell in wanted(GRID, [record]) if cell.model == "mlp"}
    left = wanted(GRID, [record], failed)
    assert not any(cell.model == "mlp" for cell in left)
    assert any(cell.model == "state-action-dt" for cell in left)


def test_records_of_other_settings_are_not_mixed_in():
    records = [made("mlp", 0, (1.0,), steps=7), made("mlp", 0, (1.0,), episodes=9)]
    assert relevant(GRID, records) == []
    assert "mlp 0 seed 0–2" in names(wanted(GRID, records))


def test_learning_rates_multiply_what_learns():
    grid = dataclasses.replace(GRID, learning_rates=(0.1, 0.01), models=("mlp", "random"))
    assert names(wanted(grid, []))[:4] == [
        "mlp 0 lr 0.1 seed 0–2",
        "mlp 0 lr 0.01 seed 0–2",
        "mlp 1 lr 0.1 seed 0–2",
        "mlp 1 lr 0.01 seed 0–2",
    ]


def test_crisp_policies_come_by_what_serves_or_what_is_asked_for():
    def routes(grid):
        return {cell.route for cell in wanted(grid, []) if cell.model == "crisp-tree"}

    assert routes(GRID) == {"direct"}
    assert routes(dataclasses.replace(GRID, envs=("LunarLander-v3",))) == {"mlp"}
    assert routes(dataclasses.replace(GRID, envs=("crisptree/Wildfire-v0",))) == {"soft"}
    assert routes(dataclasses.replace(GRID, route="mlp")) == {"mlp"}


def test_quick_runs_are_shorter_and_other_runs():
    quick = dataclasses.replace(GRID, quick=True)
    assert {cell.steps is None for cell in wanted(GRID, [])} == {True}
    assert all(cell.steps for cell in wanted(quick, []) if cell.model != "random")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"leaves": (1,)}, "leaves must be at least 2"),
        ({"rules": (0,)}, "rules must be at least 1"),
        ({"hidden_layers": (-1,)}, "hidden layers must be at least 0"),
        ({"n_seeds": 0}, "--seeds must be at least 1"),
        ({"episodes": 0}, "--episodes must be at least 1"),
        ({"models": ()}, "nothing to run"),
    ],
)
def test_mistakes_are_named(change, says):
    with pytest.raises(CrisptreeError, match=says):
        dataclasses.replace(GRID, **change)
