import pytest

from crisptree.lab.study.summary_text import name_of, p_text, the


@pytest.mark.parametrize(
    ("policy", "name", "in_a_sentence"),
    [
        ("tree", "decision tree", "the decision tree"),
        ("list2", "rule list 2", "rule list 2"),
        ("mlp", "network", "the network"),
        ("policy 1", "policy 1", "policy 1"),
    ],
)
def test_aids_are_called_by_what_they_are(policy, name, in_a_sentence):
    assert name_of(policy) == name and the(policy) == in_a_sentence


@pytest.mark.parametrize(
    ("p", "text"),
    [(0.0004, "p < .001"), (0.05, "p = .050"), (1.0, "p = 1.000"), (float("nan"), "p undefined")],
)
def test_p_values_have_three_digits(p, text):
    assert p_text(p) == text
