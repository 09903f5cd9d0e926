import json

import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.lab.study.planning import plan, told, write_example
from crisptree.lab.study.power import Power
from crisptree.lab.study.simulate import Assumptions
from crisptree.lab.study.words import SIMULATED

ASSUMED = Assumptions((5.5, 5.3, 4.2), (8.0, 9.0, 15.0), (0.95, 0.95, 0.85))


def test_the_table_by_heart():
    found = [
        Power(8, 0.5, 0.41, (0.1, 0.2, 0.3), (0.0, 0.05, 1.0), 0.07, 2000),
        Power(15, 0.955, 1.0, (0.1, 0.2, 0.3), (0.0, 0.05, 1.0), 0.2, 2000),
    ]
    assert told(found, 0.05) == (
        "Studies in which a test would come out at 0.05, under your assumptions:\n"
        "\n"
        "        ratings                 times                  accuracy\n"
        "people      all  1–2  1–3  2–3    all  1–2  1–3   2–3       all\n"
        "     8      50%  10%  20%  30%    41%   0%   5%  100%        7%\n"
        "    15      96%  10%  20%  30%   100%   0%   5%  100%       20%\n"
        "\n"
        "all: repeated-measures ANOVA (ratings), Friedman's test (times, accuracy). Pairs of\n"
        "aids, in the order given: Tukey's test (ratings), Dunn's with Holm's (times).\n"
        "2,000 simulated studies each; 80% stands for 78% … 82%."
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"people": (2,)}, "needs 3 … 1000 people"),
        ({"people": ()}, "needs 3 … 1000 people"),
        ({"studies": 0}, "cannot be simulated"),
        ({"alpha": 1.0}, "between 0 and 1"),
        ({"n_items": 0}, "at least one question"),
    ],
)
def test_impossible_plans_are_refused(changes, message):
    options = {"people": (5,), "n_items": 5, "n_statements": 5, "studies": 5, "alpha": 0.05}
    with pytest.raises(CrisptreeError, match=message):
        plan(ASSUMED, **(options | changes), seed=0)


def test_each_number_of_people_is_tried():
    found = plan(ASSUMED, (4, 6), n_items=2, n_statements=2, studies=10, alpha=0.05, seed=0)
    assert [each.people for each in found] == [4, 6]


def test_an_example_says_that_it_is_simulated(tmp_path):
    write_example(ASSUMED, 15, 5, 5, 0, tmp_path / "example")
    names = {at.name for at in (tmp_path / "example").iterdir()}
    assert names == {"report.md", "report.json", "figure.svg", "figure.png"}
    report = (tmp_path / "example" / "report.md").read_text()
    assert SIMULATED in report and "15 simulated people" in report
    assert "SIMULATED" in (tmp_path / "example" / "figure.svg").read_text()
    assert json.loads((tmp_path / "example" / "report.json").read_text())["measured"]["simulated"]
