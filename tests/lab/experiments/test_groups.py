import pytest
from made_records import ENV, first_edition, made, table_records

from crisptree.lab.experiments.groups import best_of, groups_of


def test_groups_join_the_seeds_of_several_runs():
    records = [made("mlp", 0, (1.0, 2.0)), made("mlp", 0, (6.0,), first_seed=2)]
    (group,) = groups_of(records)
    assert group.scores.tolist() == [1.0, 2.0, 6.0]
    assert group.score == (3.0, pytest.approx(2.6457513 / 3**0.5))


def test_a_seed_counts_once():
    records = [made("mlp", 0, (1.0, 2.0)), made("mlp", 0, (9.0,), first_seed=1)]
    assert groups_of(records)[0].scores.tolist() == [1.0, 2.0]


def test_soft_models_have_a_second_row_for_their_argmax():
    groups = groups_of([made("soft-list", 4, (5.0,), crisp_scores=(1.0,))])
    assert [(g.row, g.score.mean) for g in groups] == [("soft-list", 5.0), ("argmax-list", 1.0)]


def test_the_best_size_is_chosen_by_selection_not_by_what_is_reported():
    lucky = made("mlp", 1, (9.0,), selection=(1.0,))
    chosen = made("mlp", 2, (5.0,), selection=(2.0,))
    best = best_of(groups_of([lucky, chosen]), ENV, "mlp")
    assert best is not None and best.cell.size == 2 and best.score.mean == 5.0


def test_of_equals_the_smaller_is_best_and_half_done_sizes_do_not_count():
    records = [made("mlp", 4, (5.0, 5.0)), made("mlp", 2, (5.0, 5.0)), made("mlp", 1, (9.0,))]
    best = best_of(groups_of(records), ENV, "mlp")
    assert best is not None and best.cell.size == 2


def test_rows_come_in_the_tables_order():
    rows = [group.row for group in groups_of(table_records())]
    assert rows == [
        "soft-tree",
        "soft-list",
        "mlp",
        "mlp",
        "crisp-tree",
        "crisp-tree",
        "argmax-tree",
        "argmax-list",
        "state-action-dt",
        "random",
    ]


def test_nothing_has_no_best():
    assert best_of([], ENV, "mlp") is None


def test_of_each_size_the_latest_edition_counts():
    old = [first_edition("crisp-tree", size, score) for size, score in ((2, 5.0), (4, 9.0))]
    groups = groups_of([*old, made("crisp-tree", 4, (1.0,))])
    best = best_of(groups, ENV, "crisp-tree")
    assert best is not None and (best.cell.size, best.score.mean) == (2, 5.0)
    before = best_of(groups_of(old), ENV, "crisp-tree")
    assert before is not None and (before.cell.size, before.cell.edition) == (4, 1)
