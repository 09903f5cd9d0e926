from made_records import CARTPOLE, LANDER, MINE, first_edition, made, table_records

from crisptree.lab.experiments.groups import groups_of
from crisptree.lab.experiments.paper_table import (
    command_table,
    detail_table,
    improvement_table,
    main_table,
    overall_table,
)


def test_ours_stands_beside_the_papers():
    table = {row[0]: row[1:] for row in main_table(groups_of(table_records()), [CARTPOLE])}
    assert table[""] == ["Cart pole", "paper"]
    assert table["soft tree"] == ["95.0 ± 5.0", "500.0 ± 0.0"]
    assert table["crisp tree"] == ["73.0 ± 2.0", "499.5 ± 0.8"]
    assert table["soft tree, argmax"] == ["40.0 ± 10.0", "499.5 ± 0.8"]
    assert table["State-Action DT"] == ["50.0 ± 10.0", "66.3 ± 18.5"]
    assert table["random"] == ["11.0 ± 1.0", "–"]
    assert "DAgger DT" not in table


def test_fewer_seeds_than_elsewhere_are_told():
    records = [made("mlp", 0, (1.0, 3.0)), made("random", None, (1.0,))]
    table = {row[0]: row[1:] for row in main_table(groups_of(records), [CARTPOLE])}
    assert table["MLP"][0] == "2.0 ± 1.0" and table["random"][0] == "1.0 (1 seed)"


def test_a_domain_without_a_row_has_a_dash_and_one_of_ones_own_no_paper():
    records = [*table_records(), made("mlp", 0, (-3.0,), domain=MINE)]
    table = {row[0]: row[1:] for row in main_table(groups_of(records), [CARTPOLE, MINE])}
    assert table[""] == ["Cart pole", "paper", "Mine-v0"]
    assert table["MLP"] == ["90.0 ± 5.0", "500.0 ± 0.0", "−3.0 (1 seed)"]
    assert table["random"] == ["11.0 ± 1.0", "–", "–"]


def test_details_tell_size_seeds_episodes_and_leaves():
    table = {row[0]: row[1:] for row in detail_table(groups_of(table_records()), CARTPOLE)}
    assert table["MLP"] == [
        "0 hidden layers",
        "90.0 ± 5.0",
        "90.0 [85.0, 95.0]",
        "85.0, 95.0",
        "2 × 2",
        "–",
        made("mlp", 0, (1.0,)).cell.variant_hash,
    ]
    assert table["crisp tree"][0] == "8 leaves, from scratch" and table["crisp tree"][-2] == "3, 3"


def test_the_first_command_of_each_row_is_told():
    records = [made("crisp-tree", 2, (float(seed),), first_seed=seed) for seed in (3, 4)]
    records.append(made("soft-tree", 2, (1.0,), crisp_scores=(1.0,)))
    assert command_table(groups_of(records), CARTPOLE) == [
        ["", "trained by"],
        ["soft tree", "crisptree train --seed 0"],
        ["crisp tree", "crisptree train --seed 3"],
    ]


def test_improvement_names_both_and_its_interval():
    table = improvement_table(groups_of(table_records()), CARTPOLE)
    assert ["crisp tree", "State-Action DT", "1.00 [1.00, 1.00]"] in table
    assert ["soft tree", "MLP", "0.75 [0.00, 1.00]"] in table


def test_over_all_domains_scores_run_from_random_to_the_best():
    records = [*table_records(), *table_records(LANDER, lift=50.0)]
    table = {row[0]: row[1:] for row in overall_table(groups_of(records), [CARTPOLE, LANDER])}
    assert "random" not in table
    assert table["soft tree"][0].startswith("1.00 [")
    assert table["crisp tree"][1] == "1.00 [1.00, 1.00]"
    assert table["State-Action DT"][1] == "–"


def test_without_a_foot_of_the_scale_there_is_nothing_to_normalise():
    records = [made("mlp", 0, (1.0, 2.0)), made("mlp", 0, (1.0,), domain=LANDER)]
    assert len(overall_table(groups_of(records), [CARTPOLE, LANDER])) == 1


def test_the_first_editions_figures_are_marked():
    groups = groups_of([first_edition("crisp-tree", 2, 9.0), made("mlp", 0, (1.0,))])
    table = {row[0]: row[1:] for row in main_table(groups, [CARTPOLE])}
    assert table["crisp tree"][0] == "9.0¹" and table["MLP"][0] == "1.0"
    details = {row[0]: row[-1] for row in detail_table(groups, CARTPOLE)}
    assert details["crisp tree"] == "first edition"
