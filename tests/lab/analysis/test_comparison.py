import io

import numpy as np
from rich.console import Console

from crisptree.lab.analysis import comparison
from crisptree.lab.analysis.comparison import Learned, compare, comparison_json, comparison_table
from crisptree.lab.analysis.experience import Ended, methods
from crisptree.lab.analysis.learning import first_phis
from crisptree.lab.analysis.setting import PAPER

FIRST = np.array([1.0, 2.2, 3.0, 4.0])
ALONE = Ended(FIRST, np.array([1.0, 2.5, 2.5, 4.0]), np.array([False, True, True, False]))
WHOLE = Ended(FIRST, np.array([2.5, 2.5, 2.5, 4.0]), np.array([True, True, True, False]))
LEARNED = Learned(methods(0.95)[0], ALONE, WHOLE)


def test_every_method_learns_alone_and_whole_from_the_same_places(monkeypatch):
    asked = []

    def noted(setting, method, first, steps, *, alone):
        asked.append((setting, method, steps, alone))
        np.testing.assert_array_equal(first, first_phis(PAPER))
        return ALONE if alone else WHOLE

    monkeypatch.setattr(comparison, "ends", noted)
    found = list(compare(PAPER))
    assert [learned.method for learned in found] == list(methods(PAPER.gamma))
    assert all(learned.alone is ALONE and learned.whole is WHOLE for learned in found)
    assert asked == [
        (PAPER, method, comparison.STEPS, alone)
        for method in methods(PAPER.gamma)
        for alone in (True, False)
    ]


def test_shares_in_the_table():
    console = Console(width=80, file=io.StringIO())
    with console.capture() as captured:
        console.print(comparison_table(PAPER, [LEARNED]))
    (row,) = [line.split() for line in captured.get().splitlines() if "REINF" in line]
    assert row == ["REINFORCE", "standard", "50%", "75%"]


def test_json_tells_every_place():
    (entry,) = comparison_json([LEARNED])
    assert (entry["learner"], entry["terminal"]) == ("REINFORCE", "standard")
    assert entry["phi_alone"]["optimal_after"] == 0.5
    assert entry["all_of_the_tree"]["optimal_after"] == 0.75
    assert entry["phi_alone"]["last"] == [1.0, 2.5, 2.5, 4.0]
    assert entry["phi_alone"]["optimal"] == [False, True, True, False]
