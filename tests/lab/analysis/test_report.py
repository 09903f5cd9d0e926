import json

import numpy as np

from crisptree.lab.analysis.analyse import analyse
from crisptree.lab.analysis.report import as_json


def test_the_papers_numbers(papers):
    report = as_json(papers)
    zeros = {entry["start"]: entry["zeros"] for entry in report["policy_gradient"]}
    assert zeros.keys() == {2, 3}
    np.testing.assert_allclose(zeros[2], [2.5347], atol=5e-4)
    np.testing.assert_allclose(zeros[3], [2.4653], atol=5e-4)
    for entry in report["q_learning"]:
        assert entry["zeros"] == sorted(entry["zeros"])
        if entry["terminal"] == "paper":
            five = [1.497, 1.997, 2.5, 2.998, 3.503]
            assert len(entry["zeros"]) == 5
            assert all(abs(a - b) <= 0.003 for a, b in zip(entry["zeros"], five, strict=True))
            assert entry["kinds"] == ["smooth", "jump", "smooth", "jump", "smooth"]
        if entry["terminal"] == "standard":
            np.testing.assert_allclose(entry["zeros"], [2.5], atol=1e-6)
    assert {entry["terminal"] for entry in report["q_learning"]} == {
        "paper",
        "terminal-update",
        "bootstrap-and-update",
        "standard",
    }


def test_it_is_json_without_infinities(papers, longer):
    for analysis in (papers, longer):
        report = as_json(analysis)
        assert json.loads(json.dumps(report, allow_nan=False)) == report


def test_lists_of_a_curve_belong_together(longer):
    report = as_json(longer)
    for entry in report["policy_gradient"] + report["q_learning"]:
        count = len(entry["zeros"])
        assert count == len(entry["kinds"]) == len(entry["attracts"]) == len(entry["optimality"])
    assert len(report["learning"]) == len(report["policy_gradient"] + report["q_learning"])
    assert len(report["appendix_b"]["traces"]) == 31


def test_the_same_analysis_twice(papers):
    assert json.dumps(as_json(analyse())) == json.dumps(as_json(papers))
