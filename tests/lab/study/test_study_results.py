import json
import math

import numpy as np
import pytest

from crisptree.lab.study.measures import Excluded, Measured
from crisptree.lab.study.simulation import Assumptions, simulate_study
from crisptree.lab.study.study_report import as_markdown
from crisptree.lab.study.study_results import analyse, to_json
from crisptree.lab.study.summary_text import SIMULATED, in_plain_words, name_of, p_text

ASSUMED = Assumptions((5.6, 5.3, 3.9), (8.0, 9.0, 15.0), (0.95, 0.95, 0.85))
POLICIES = ("tree", "list", "mlp")


def study(n: int, seed: int = 1) -> Measured:
    return simulate_study(ASSUMED, n, np.random.default_rng(seed), POLICIES)


def by_hand(rating, seconds=None, accuracy=None, **changes) -> Measured:
    rating = np.array(rating, dtype=float)
    n, k = rating.shape
    values = {
        "policies": POLICIES[:k],
        "people": tuple(range(1, n + 1)),
        "n_items": 5,
        "error": np.full((n, k), np.nan),
        "accuracy": np.ones((n, k)) if accuracy is None else np.array(accuracy, dtype=float),
        "seconds": np.tile(np.arange(1.0, k + 1) * 10, (n, 1)) if seconds is None else seconds,
        "rating": rating,
        "statements": ("a",),
        "scores": rating[:, :, None],
        "excluded": (),
        "rule": "The rule.",
        "simulated": False,
    }
    return Measured(**(values | changes))


def test_fifteen_people_and_three_policies_have_the_papers_degrees_of_freedom():
    found = analyse(study(15))
    assert found.ratings is not None and found.times is not None
    assert (found.ratings.anova.df_conditions, found.ratings.anova.df_error) == (2, 28)
    assert found.times.friedman.df == 2
    assert "F(2, 28) = " in as_markdown(found, "x") and "Q(2) = " in as_markdown(found, "x")


def test_summaries_by_hand():
    rating = [[7, 5, 1], [6, 5, 2], [5, 2, 3]]
    found = analyse(by_hand(rating, accuracy=[[1, 1, 0.2], [1, 0.8, 0.4], [1, 0.6, 0.6]]))
    tree, list_, mlp = found.policies
    assert (tree.rating_mean, list_.rating_mean, mlp.rating_mean) == (6, 4, 2)
    assert (tree.accuracy, round(mlp.accuracy, 3)) == (1, 0.4)
    assert tree.accuracy_95[1] == 1 and 0.4 < tree.accuracy_95[0] < 0.5  # three of three
    assert (tree.seconds_mean, mlp.seconds_median) == (10, 30)
    assert [round(each.ratio, 3) for each in found.time_ratios] == [0.5, 0.333, 0.667]


@pytest.mark.parametrize("n", [0, 1, 2, 3, 9])
def test_few_people_are_told_what_cannot_be_said(n):
    found = analyse(study(n))
    words = in_plain_words(found)
    assert (found.ratings is None) == (n < 3)
    assert ("F(" in words) == (n >= 3)
    expected = {
        0: "nothing can be said",
        1: "With one person no test is made",
        2: "With two people no test is made",
    }
    assert expected.get(n, f"With {n} people, the p-values of the rank tests are rough") in words
    assert words in as_markdown(found, "x").replace("\\", "")


def test_enough_people_are_told_nothing_of_the_kind():
    assert analyse(study(15)).cannot_say == []


def test_answers_that_do_not_differ_are_undefined_not_wrong():
    found = analyse(by_hand([[4, 4, 4]] * 12))
    assert found.ratings is not None and math.isnan(found.ratings.anova.f)
    assert any("Nobody's ratings differ" in each for each in found.cannot_say)
    assert any("Nobody's accuracies differ" in each for each in found.cannot_say)
    text = as_markdown(found, "x")
    assert "undefined" in text and "nan" not in text.lower().replace("nantes", "")


def test_it_is_plain_json_with_null_for_what_is_undefined():
    for measured in (study(15), study(2), study(0), by_hand([[4, 4, 4]] * 12)):
        again = json.loads(json.dumps(to_json(analyse(measured)), allow_nan=False))
        assert again["measured"]["policies"] == list(POLICIES)
    assert (
        json.loads(json.dumps(to_json(analyse(by_hand([[4, 4, 4]] * 12)))))["ratings"]["anova"]["f"]
        is None
    )


def test_the_paragraph_by_heart():
    rng = np.random.default_rng(0)
    rating = np.array([6.0, 5.5, 2.0]) + 0.3 * rng.normal(size=(15, 3))
    seconds = np.array([20.0, 25.0, 60.0]) * np.exp(0.1 * rng.normal(size=(15, 3)))
    measured = by_hand(
        rating,
        seconds,
        excluded=(Excluded(3, "did not finish"), Excluded(9, "away for 99 seconds")),
    )
    assert in_plain_words(analyse(measured)) == GOLDEN


GOLDEN = (
    "15 people are analysed; 2 left out by the rule. They predicted the policy's action rightly "
    "in 100% of the questions with the decision tree, 100% with the rule list and 100% with the "
    "network. On a scale from 1 to 7 they gave 6.0 to the decision tree, 5.5 to the rule list "
    "and 2.0 to the network. Chance alone hardly explains these differences (F(2, 28) = "
    "1220.76, p < .001). The decision tree was rated 0.5 points higher than the rule list (95 % "
    "interval 0.3 to 0.8; Tukey, p < .001). The decision tree was rated 4.0 points higher than "
    "the network (95 % interval 3.8 to 4.2; Tukey, p < .001). The rule list was rated 3.4 "
    "points higher than the network (95 % interval 3.2 to 3.7; Tukey, p < .001). The questions "
    "about one policy took 19 s with the decision tree, 25 s with the rule list and 64 s with "
    "the network (medians). Chance alone hardly explains these differences (Friedman Q(2) = "
    "30.00, p < .001). The rule list took 1.3 times as long as the decision tree (95 % interval "
    "1.2 to 1.4; Dunn, p = .005). The network took 3.3 times as long as the decision tree (95 % "
    "interval 3.0 to 3.5; Dunn, p < .001). The network took 2.5 times as long as the rule list "
    "(95 % interval 2.3 to 2.7; Dunn, p = .002). Nobody's accuracies differ between the "
    "policies, so their tests are undefined."
)


def test_a_report_says_its_rule_and_who_was_left_out():
    text = as_markdown(
        analyse(by_hand([[1, 2, 3]], excluded=(Excluded(7, "away for 99 seconds"),))), "Study x"
    )
    assert "# Study x" in text and "The rule." in text and "| 7 | away for 99 seconds |" in text
    assert SIMULATED not in text


def test_simulated_people_are_called_so():
    text = as_markdown(analyse(study(15)), "x")
    assert SIMULATED in text and "15 simulated people are analysed" in text


def test_small_words():
    assert [name_of(policy) for policy in ("tree", "list2", "mlp", "other")] == [
        "decision tree",
        "rule list 2",
        "network",
        "other",
    ]
    assert [p_text(p) for p in (0.0001, 0.0234, 0.5, 1.0, math.nan)] == [
        "p < .001",
        "p = .023",
        "p = .500",
        "p = 1.000",
        "p undefined",
    ]


def test_the_lesser_rating_may_come_first():
    rng = np.random.default_rng(0)
    rating = np.array([2.0, 5.5, 6.0]) + 0.3 * rng.normal(size=(15, 3))
    words = in_plain_words(analyse(by_hand(rating, np.exp(rng.normal(size=(15, 3)) * 0.1) * 20)))
    assert "The network was rated" in words and "higher than the decision tree" in words
    assert "The decision tree was rated" not in words
    assert "questions about one policy" in words and "Chance alone could explain" in words
