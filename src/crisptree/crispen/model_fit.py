"""Trees that imitate the optimal policy of a known model: DAgger with exact visits."""

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.crispen.fit import MIN_SAMPLES_LEAF, fit_cart
from crisptree.crispen.fit_costs import grown
from crisptree.envs.task import Task
from crisptree.learn.exact_model import ExactModel
from crisptree.learn.value_iteration import ExactPolicy

ROUNDS = 12
"""Of each way to fit."""
FAINT = 1e-3
"""Weight of states that nobody has met yet, as a share of the mean."""


def fitted_trees(
    model: ExactModel, teacher: ExactPolicy, n_leaves: int, task: Task, seed: int, keep: int = 3
) -> list[CrispTree]:
    """The best of the trees that are fitted round after round, the best first.

    A state counts by how often the optimal policy and the trees so far meet it, times what wrong
    actions cost there. There are two ways to fit: by what every action costs, and CART.
    """
    states = model.observations
    actions, costs = teacher.act(states), teacher.regrets(states)
    found: dict[bytes, tuple[float, CrispTree]] = {}
    for is_cart in (False, True):
        visits = model.visits(actions)
        for _ in range(ROUNDS):
            weights = visits + FAINT * visits.mean()
            if is_cart:
                tree = _cart(states, actions, costs.max(1) * weights, n_leaves, task, seed)
            else:
                tree = grown(states, costs * weights[:, None], n_leaves, task)
            chosen = tree.act(states)
            found.setdefault(chosen.tobytes(), (model.mean_of(chosen), tree))
            visits = visits + model.visits(chosen)
    ranked = sorted(found.values(), key=lambda each: -each[0])
    return [tree for _, tree in ranked[:keep]]


def _cart(
    states: NDArray,
    actions: NDArray,
    weights: NDArray,
    n_leaves: int,
    task: Task,
    seed: int,
) -> CrispTree:
    """CART on all states of the model, each as often as a leaf must have met states."""
    share = np.maximum(weights / max(weights.mean(), 1e-300), 1e-9)
    many = [np.repeat(each, MIN_SAMPLES_LEAF, axis=0) for each in (states, actions, share)]
    return fit_cart(many[0], many[1], many[2], n_leaves, task, seed)
