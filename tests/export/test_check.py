from dataclasses import replace

import numpy as np
import pytest
from export_trees import grown

from crisptree.export import ExportError, check
from crisptree.export.expected import expected

TREE = grown(32, 7)
INNER = np.flatnonzero(TREE.feature >= 0)


def decided(tree):
    return lambda states: expected(tree, states)


def changed(field, node, value):
    column = np.array(getattr(TREE, field))
    column[node] = value
    return replace(TREE, **{field: column})


def test_the_tree_agrees_with_itself():
    assert check(TREE, decided(TREE), np.float64, 1000) > 1000


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_threshold_one_float_off_is_noticed(dtype):
    noticed = 0
    for node in INNER.tolist():
        at = dtype(TREE.threshold[node])
        tree = changed("threshold", node, float(np.nextafter(at, dtype(np.inf))))
        if not _differ(tree, dtype):
            continue
        noticed += 1
        with pytest.raises(ExportError, match="decides differently"):
            check(TREE, decided(tree), dtype, 0)
    assert noticed > 10


def _differ(tree, dtype):
    """Whether a state on or beside the moved threshold, in the leaves around it, tells."""
    from crisptree.export.states import states

    many = states(tree, dtype, 20_000, seed=5)
    return (tree.predict(many)[0] != TREE.predict(many)[0]).any()


def test_at_least_instead_of_above_is_noticed():
    lowered = np.where(TREE.feature < 0, 0.0, np.nextafter(TREE.threshold, -np.inf))
    with pytest.raises(ExportError):
        check(TREE, decided(replace(TREE, threshold=lowered)), np.float64, 0)


def test_every_other_action_is_noticed():
    for rule in TREE.simplify().rules():
        simple = TREE.simplify()
        column = np.array(simple.action)
        column[rule.leaf] = (column[rule.leaf] + 1) % 4
        with pytest.raises(ExportError):
            check(simple, decided(replace(simple, action=column)), np.float64, 0)


def test_the_message_has_the_observation_and_both_actions():
    with pytest.raises(ExportError, match=r"for \[.*\] it says -1, the tree \d"):
        check(TREE, lambda states: np.full(len(states), -1), np.float64, 10)


def test_a_wrong_number_of_actions():
    with pytest.raises(ExportError, match=r"gave actions of shape \(1,\), not \(\d+,\)"):
        check(TREE, lambda states: np.zeros(1), np.float64, 10)
