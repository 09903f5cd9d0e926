from crisptree.lab.analysis.paper_comparison import compare_print

# What the paper prints wrongly, by the place where it stands and the figure it prints.
WRONG = {
    ("§5.4", "2.465"): "2.5347",
    ("§5.4", "2.535"): "2.4653",
    ("§5.4", "5"): "1",
    ("§5.2", "18.05"): "0.05",
    ("§5.2, App. C", "20 / 18.05"): "3.71 / 0.05",
    ("App. A", "0.5128"): "20",
    ("App. A", "1, 1, 1, 1"): "1, 0, 0, 1",
    ("§5.1, App. A", "0, < 0, -1"): "-1",
    ("App. B", "0.9500"): "1.0475",
    ("Eq. 6", "2.5346, 2.4654"): "2.5347, 2.4653",
}


def test_the_slips_and_nothing_else():
    lines = compare_print()
    wrong = {(line.where, line.printed): line.computed for line in lines if not line.agrees}
    assert wrong == WRONG
    assert all(line.remark for line in lines if not line.agrees)


def test_what_the_paper_has_right():
    right = [(line.where, line.printed) for line in compare_print() if line.agrees]
    assert right.count(("§5.4", "5")) == 3
    assert ("App. A", "holds") in right
    assert ("App. B", "3.7099") in right
    assert right.count(("App. B", "0.0500")) == 2
    assert ("App. D", "2.5") in right
