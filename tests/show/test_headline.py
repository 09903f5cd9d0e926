import pytest
from sample_trees import LEAF, LIST, PENDULUM, SMALL, TREE

from crisptree.crisp import CrispTree
from crisptree.show.headline import score_of, size_of, title_of


def test_title_and_size():
    assert title_of(TREE) == "CartPole-v1"
    assert title_of(CrispTree.leaf(0, "a", "x", env_id="\x1b[2J")) == r"\x1b[2J"
    assert title_of(CrispTree.leaf(0, "a", "x")) == "Policy"
    assert size_of(TREE) == "decision tree of 5 leaves, depth 3"
    assert size_of(LIST) == "list of 3 rules and an otherwise"
    assert size_of(SMALL) == "list of 1 rule and an otherwise"
    assert size_of(LEAF) == "decision tree of 1 leaf, depth 0"


@pytest.mark.parametrize(
    ("training", "score"),
    [
        (PENDULUM.training, "return −158.2 ± 9.1 over 100 episodes"),
        (
            {"return": 254.3, "standard_error": 2.49, "episodes": 1000},
            "return 254.3 ± 2.5 over 1,000 episodes",
        ),
        (
            {"crisp_return": 500.0, "crisp_return_se": 0.0, "episodes": 1},
            "return 500.0 ± 0.0 over 1 episode",
        ),
        ({"crisp_return": 0.7421, "crisp_return_se": 0.0043}, "return 0.7421 ± 0.0043"),
        ({"crisp_return": 12}, "return 12.0"),
        ({"crisp_return": 0.5}, "return 0.5"),
        ({"crisp_return": 1e30, "crisp_return_se": 1.0}, "return 1.00e+30 ± 1.0e+00"),
        ({"crisp_return": 12345.6, "crisp_return_se": 123.4}, "return 12,345.6 ± 123.4"),
        ({}, ""),
        ({"crisp_return": "<b>", "return": None, "mean_return": True}, ""),
        ({"crisp_return": 10**400}, ""),
        ({"crisp_return": 1.5, "crisp_return_se": [], "episodes": "x"}, "return 1.5"),
        ({"crisp_return": 1.5, "crisp_return_se": -1.0, "episodes": -2}, "return 1.5"),
    ],
)
def test_the_score_in_the_metadata(training, score):
    assert score_of(training) == score
