import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crisptree.crispen.alternate import BinnedList, BinnedRule, ListFit

BINS = 16


def some_states(seed: int, n: int = 400, features: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, BINS, size=(n, features))


def any_list(seed: int, rules: int, labels: int = 3) -> BinnedList:
    rng = np.random.default_rng(seed)
    drawn = [
        BinnedRule(
            int(rng.integers(3)),
            int(rng.integers(1, BINS - 2)),
            bool(rng.integers(2)),
            int(rng.integers(labels)),
        )
        for _ in range(rules)
    ]
    return BinnedList(tuple(drawn), int(rng.integers(labels)))


def labels_of(binned: np.ndarray, said: BinnedList) -> np.ndarray:
    """Row by row, the first rule that holds."""
    found = []
    for row in binned:
        for rule in said.rules:
            if (row[rule.feature] <= rule.edge) == rule.asks_at_most:
                found.append(rule.label)
                break
        else:
            found.append(said.otherwise)
    return np.array(found)


def fit(binned, labels, weights=None) -> ListFit:
    return ListFit(binned, labels, weights, BINS, 2)


@given(st.integers(0, 2**16), st.integers(1, 6))
@settings(max_examples=20, deadline=None)
def test_the_first_rule_that_holds_decides(seed, rules):
    binned, said = some_states(seed, 100), any_list(seed, rules)
    labels = labels_of(binned, said)
    data = fit(binned, labels)
    np.testing.assert_array_equal(data.decided(said), labels)
    assert data.errors(said) == 0
    first = data.reached(said)
    for row, at in zip(binned, first, strict=True):
        holds = [(row[r.feature] <= r.edge) == r.asks_at_most for r in said.rules]
        assert at == (holds.index(True) if any(holds) else len(said.rules))


@given(st.integers(0, 2**16), st.booleans())
@settings(max_examples=20, deadline=None)
def test_sweeps_never_make_a_list_worse(seed, weighted):
    binned, rng = some_states(seed), np.random.default_rng(seed)
    weights = rng.uniform(0.1, 3, len(binned)) if weighted else None
    data = fit(binned, rng.integers(0, 3, len(binned)), weights)
    said = any_list(seed + 1, 5)
    assert data.errors(data.alternated(said)) <= data.errors(said) + 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_a_grown_list_is_nearly_that_of_the_labels(seed):
    binned = some_states(seed, 2000)
    data = fit(binned, labels_of(binned, any_list(seed, 4)))
    grown = data.grown(8)
    assert len(grown.rules) <= 8
    assert data.errors(grown) <= 0.02 * len(binned)


def test_what_counts_more_is_right_first():
    binned = np.repeat([[1], [5], [9]], 50, axis=0)
    labels = np.repeat([0, 1, 0], 50)
    plain = fit(binned, labels).grown(1)
    assert len(plain.rules) == 1
    heavy = fit(binned, labels, np.repeat([0.1, 5.0, 1.0], 50))
    found = heavy.decided(heavy.grown(1))
    np.testing.assert_array_equal(found[50:150], labels[50:150])


def test_an_early_mistake_of_covering_is_mended():
    """The first rule takes a state too many; rules behind it cannot give that back."""
    binned = np.arange(12)[:, None].repeat(20, axis=0)
    labels = np.where(binned[:, 0] < 3, 0, np.where(binned[:, 0] < 8, 1, 2))
    data = fit(binned, labels)
    greedy = BinnedList((BinnedRule(0, 4, True, 0), BinnedRule(0, 7, True, 1)), 2)
    assert data.errors(greedy) == 40
    assert data.errors(data.alternated(greedy)) == 0


def test_one_label_needs_no_rule():
    binned = some_states(0)
    assert fit(binned, np.zeros(len(binned), int)).grown(5) == BinnedList((), 0)
