"""Trees fitted to what every action costs."""

import numpy as np
import pytest
from plain_task import plain_task

from crisptree.crispen.fit_costs import grown

TASK = plain_task(("x", "y"), ("a", "b", "c"))


GRID = np.array([[x, y] for x in range(6) for y in range(6)], np.float32)


def fit(of_row, n_leaves: int, states=GRID):
    costs = np.array([of_row(row) for row in states], np.float64)
    return grown(states, costs, n_leaves, TASK)


def cost_of(tree, of_row, states=GRID) -> float:
    taken = tree.act(states)
    return sum(of_row(row)[action] for row, action in zip(states, taken, strict=True))


def test_among_equals_the_action_that_needs_fewer_questions_is_taken():
    """In the corner a and b are as good, elsewhere b alone: one leaf is enough."""
    tree = fit(lambda row: (0, 0, 1) if row.sum() < 3 else (1, 0, 1), 8)
    assert tree.n_leaves == 1 and tree.act(GRID[:1])[0] == 1


def test_mistakes_are_made_where_they_cost_least():
    def costs(row):
        if row[0] == 0:
            return (0, 100, 100)
        return (1, 0, 1) if row[1] < 5 else (1, 1, 0)

    tree = fit(costs, 2)
    assert cost_of(tree, costs) == 5  # one a for each x > 0 at y = 5
    assert cost_of(fit(costs, 3), costs) == 0


def test_two_questions_that_matter_together_are_found():
    def costs(row):
        return (0, 1, 2) if (row[0] > 2) == (row[1] > 1) else (1, 0, 2)

    tree = fit(costs, 4)
    assert tree.n_leaves == 4 and cost_of(tree, costs) == 0


def test_states_count_as_often_as_they_are_met():
    def costs(row):
        return (0, 1, 1) if row[0] < 3 else (1, 0, 1)

    often = np.concatenate([GRID, *[GRID[GRID[:, 0] >= 3]] * 3])
    assert fit(costs, 1, often).act(GRID).tolist() == [1] * len(GRID)


@pytest.mark.parametrize("n_leaves", [2, 5, 9])
def test_more_leaves_never_cost_more(n_leaves):
    random = np.random.default_rng(0)
    table = {row.tobytes(): random.exponential(size=3) for row in GRID}
    costs = lambda row: table[row.tobytes()] - table[row.tobytes()].min()
    fewer, more = fit(costs, n_leaves), fit(costs, n_leaves + 3)
    assert fewer.n_leaves <= n_leaves
    assert cost_of(more, costs) <= cost_of(fewer, costs)
