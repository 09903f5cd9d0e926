import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sample_trees import EXTREME, TREE
from tree_strategies import NESTED, tree_of

from crisptree.show.visits import BINS, histograms, visit_counts


def states(count=200, features=4):
    return np.random.default_rng(0).normal(0, 1, (count, features)).astype(np.float32)


@given(NESTED)
def test_visits_are_counted_on_the_decision_paths(nested):
    tree = tree_of(nested)
    expected = np.zeros(tree.n_nodes, int)
    for state in states(50, 3):
        expected[list(tree.decision_path(state))] += 1
    assert visit_counts(tree, states(50, 3)).tolist() == expected.tolist()


def test_histograms_have_every_state_that_passes_on_its_side():
    seen = states()
    counts = visit_counts(TREE, seen)
    for node, histogram in enumerate(histograms(TREE, seen)):
        feature, _, if_true, if_false = TREE.nodes[node]
        if feature < 0:
            assert histogram is None
            continue
        assert histogram is not None
        assert sum(histogram.above) == counts[if_true] and sum(histogram.below) == counts[if_false]
        passing = [state[feature] for state in seen if node in TREE.decision_path(state)]
        assert (histogram.low, histogram.high) == (min(passing), max(passing))
        expected, _ = np.histogram(passing, BINS)
        both = np.add(histogram.above, histogram.below)
        assert abs(both - expected).sum() <= 2  # a value on an edge may fall to either side


def test_no_states():
    assert histograms(TREE, np.empty((0, 4))) == [None] * TREE.n_nodes


@given(st.lists(st.tuples(*[st.floats(allow_nan=False, allow_infinity=False)] * 3), min_size=1))
def test_any_numbers(rows):
    found = histograms(EXTREME, np.array(rows))[0]
    assert found is not None and sum(found.above) + sum(found.below) == len(rows)


def test_infinite_values_are_left_out():
    seen = np.array([[np.inf, 0, 0, 0], [1.0, 0, 0, 0], [-np.inf, 0, 0, 0]])
    tree = tree_of((0, 0.5, 1, 0))
    found = histograms(tree, seen[:, :3])[0]
    assert found is not None and (found.low, found.high) == (1.0, 1.0)
    assert (sum(found.above), sum(found.below)) == (1, 0)
