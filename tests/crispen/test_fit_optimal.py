from itertools import product

import numpy as np

from crisptree.crispen.draft import Draft, Leaf, Split, actions_of, n_leaves
from crisptree.crispen.fit_optimal import optimal_draft

GRID = np.array(list(product(range(4), range(3))), np.float32)


def cost_of(draft: Draft | None, costs: np.ndarray) -> float:
    assert draft is not None
    return float(costs[np.arange(len(costs)), actions_of(draft, GRID)].sum())


def least_cost(rows: np.ndarray, costs: np.ndarray, leaves: int) -> float:
    """By trying everything."""
    best = costs[rows].sum(0).min()
    for feature in range(2) if leaves > 1 else ():
        for value in np.unique(GRID[rows, feature])[:-1]:
            below = rows[GRID[rows, feature] <= value]
            above = rows[GRID[rows, feature] > value]
            for k in range(1, leaves):
                sides = least_cost(below, costs, k) + least_cost(above, costs, leaves - k)
                best = min(best, sides)
    return float(best)


def test_nothing_costs_less():
    for seed in range(4):
        costs = np.random.default_rng(seed).random((len(GRID), 3))
        for leaves in (1, 2, 4):
            draft = optimal_draft(GRID, costs, leaves)
            assert draft is not None and n_leaves(draft) <= leaves
            expected = least_cost(np.arange(len(GRID)), costs, leaves)
            assert np.isclose(cost_of(draft, costs), expected)


def test_it_sees_more_than_one_question_ahead():
    """Exclusive or: the first question alone gains nothing."""
    even = (GRID[:, 0] > 1.5) ^ (GRID[:, 1] > 0.5)
    costs = np.stack([even, ~even], 1).astype(float)
    draft = optimal_draft(GRID, costs, 4)
    assert cost_of(draft, costs) == 0
    assert cost_of(optimal_draft(GRID, costs, 2), costs) > 0


def test_where_an_action_costs_nothing_there_is_no_question():
    costs = np.tile([1.0, 0.0], (len(GRID), 1))
    assert optimal_draft(GRID, costs, 8) == Leaf(1)
    costs[0] = 0.0
    assert not isinstance(optimal_draft(GRID, costs, 8), Split)


def test_too_many_boxes_or_no_time():
    costs = np.random.default_rng(0).random((len(GRID), 2))
    assert optimal_draft(GRID, costs, 4, most_boxes=10) is None
    assert optimal_draft(GRID, costs, 4, is_late=lambda: True) is None
    line = np.arange(300, dtype=np.float32)[:, None]
    assert optimal_draft(line, np.random.default_rng(0).random((300, 2)), 4) is None
