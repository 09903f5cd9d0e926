import dataclasses

import pytest
from made_records import CARTPOLE, ENV, LANDER, first_edition, made

from crisptree.base.errors import CrisptreeError
from crisptree.lab.experiments.domain import load_domain
from crisptree.lab.experiments.grid import (
    Grid,
    best_agent,
    missing_cells,
    missing_imitators,
    relevant,
)

GRID = Grid(
    (CARTPOLE,),
    ("mlp", "crisp-tree", "state-action-dt", "random"),
    leaves=(2, 4),
    hidden_layers=(0, 1),
    n_seeds=3,
    episodes=2,
)


def names(cells) -> list[str]:
    return [cell.name.removeprefix("cartpole-v1 ") for cell in cells]


def test_seeds_go_together_but_for_crisp_policies():
    assert names(missing_cells(GRID, [])) == [
        "mlp 0 seed 0–2",
        "mlp 1 seed 0–2",
        *(f"crisp-tree {size} seed {seed}" for size in (2, 4) for seed in range(3)),
        "random seed 0–2",
    ]
    assert missing_imitators(GRID, []) == []


def test_what_is_done_is_left_out_and_more_seeds_are_cheap():
    records = [made("mlp", 0, (1.0, 1.0, 1.0)), made("mlp", 1, (1.0,), first_seed=1)]
    left = names(missing_cells(GRID, records))
    assert left[:2] == ["mlp 1 seed 0", "mlp 1 seed 2"]
    more = dataclasses.replace(GRID, n_seeds=5)
    assert names(missing_cells(more, records))[0] == "mlp 0 seed 3–4"


def test_imitators_learn_from_the_best_agent():
    records = [made("mlp", 0, (1.0, 5.0, 2.0)), made("mlp", 1, (3.0, 3.0, 3.0))]
    best = f"{records[0].key}#1"
    assert best_agent(ENV, records) == best
    imitators = missing_imitators(GRID, records)
    assert len(imitators) == 2 and {cell.teacher for cell in imitators} == {best}


def test_a_better_agent_makes_other_imitators():
    worse, better = made("mlp", 0, (1.0, 1.0, 1.0)), made("mlp", 1, (2.0, 2.0, 2.0))
    old = made("state-action-dt", 2, (1.0,), teacher=f"{worse.key}#0")
    records = [worse, better, old]
    assert old not in relevant(GRID, records)
    assert {c.teacher for c in missing_imitators(GRID, records)} == {f"{better.key}#0"}


def test_records_of_other_settings_are_not_mixed_in():
    records = [
        made("mlp", 0, (1.0,), overrides={"steps": 7}),
        made("mlp", 0, (1.0,), overrides={"ppo.gamma": 0.9}),
        made("mlp", 0, (1.0,), episodes=9),
    ]
    assert relevant(GRID, records) == []
    assert "mlp 0 seed 0–2" in names(missing_cells(GRID, records))


def test_learning_rates_multiply_what_is_learned_softly():
    grid = dataclasses.replace(GRID, learning_rates=(0.1, 0.01))
    assert names(missing_cells(grid, []))[:5] == [
        "mlp 0 lr 0.1 seed 0–2",
        "mlp 0 lr 0.01 seed 0–2",
        "mlp 1 lr 0.1 seed 0–2",
        "mlp 1 lr 0.01 seed 0–2",
        "crisp-tree 2 seed 0",
    ]


def test_crisp_policies_begin_as_the_domain_says_or_as_is_asked_for():
    def beginnings(grid):
        return {c.beginning for c in missing_cells(grid, []) if c.model == "crisp-tree"}

    assert beginnings(GRID) == {"direct"}
    assert beginnings(dataclasses.replace(GRID, domains=(LANDER,))) == {"mlp"}
    assert beginnings(dataclasses.replace(GRID, domains=(load_domain("wildfire"),))) == {"soft"}
    assert beginnings(dataclasses.replace(GRID, beginning="mlp")) == {"mlp"}


def test_quick_runs_are_shorter_and_other_runs():
    def steps(grid):
        return {c.key: c.config.steps or 0 for c in missing_cells(grid, []) if c.model != "random"}

    plain, quick = steps(GRID), steps(dataclasses.replace(GRID, quick=True))
    assert not set(plain) & set(quick) and max(quick.values()) < min(plain.values())


def test_the_first_editions_records_count_where_the_domains_own_settings_are_asked_for():
    mlp, by_mlp = first_edition("mlp", 0, 5.0), first_edition("crisp-tree", 2, 5.0, route="mlp")
    crisp = first_edition("crisp-tree", 2, 5.0)
    best = first_edition("state-action-dt", 2, 4.0, teacher=f"{mlp.key}#0")
    other = first_edition("state-action-dt", 2, 4.0, teacher="other#0")
    records = [mlp, by_mlp, crisp, best, other]
    assert relevant(GRID, records) == [mlp, crisp, best]
    assert relevant(dataclasses.replace(GRID, beginning="mlp"), records) == [mlp, by_mlp, best]
    for change in ({"quick": True}, {"steps": 9}, {"episodes": 3}, {"learning_rates": (0.1,)}):
        assert relevant(dataclasses.replace(GRID, **change), records) == []


def test_a_record_of_this_edition_takes_the_place_of_the_first_editions():
    old = [first_edition("crisp-tree", size, 9.0) for size in (2, 4)]
    new = made("crisp-tree", 4, (1.0,))
    assert relevant(GRID, [*old, new]) == [new, old[0]]


def test_the_first_editions_records_are_no_reason_to_leave_out_a_run():
    mlp = first_edition("mlp", 0, 5.0)
    assert missing_cells(GRID, [mlp]) == missing_cells(GRID, [])
    assert best_agent(ENV, [mlp]) is None and missing_imitators(GRID, [mlp]) == []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"leaves": (1,)}, "leaves must be at least 2"),
        ({"rules": (0,)}, "rules must be at least 1"),
        ({"hidden_layers": (-1,)}, "hidden layers must be at least 0"),
        ({"n_seeds": 0}, "--seeds must be at least 1"),
        ({"episodes": 0}, "--episodes must be at least 1"),
        ({"steps": 0}, "--steps must be at least 1"),
        ({"models": ()}, "nothing to run"),
    ],
)
def test_mistakes_are_named(change, says):
    with pytest.raises(CrisptreeError, match=says):
        dataclasses.replace(GRID, **change)
