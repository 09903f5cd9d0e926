"""Trees that imitate the optimal policy of a known model: DAgger with exact visits."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.crispen.draft import tree_of
from crisptree.crispen.fit import MIN_SAMPLES_LEAF, fit_cart
from crisptree.crispen.fit_costs import grown
from crisptree.crispen.fit_optimal import optimal_draft
from crisptree.envs.task import Task
from crisptree.learn.exact_model import ExactModel
from crisptree.learn.value_iteration import ExactPolicy

ROUNDS = 12
"""Rounds of each way to fit."""
FAINT = 1e-3
"""Weight of states that no policy has visited yet, as a share of the mean."""


def fitted_trees(
    model: ExactModel,
    teacher: ExactPolicy,
    n_leaves: int,
    task: Task,
    seed: int,
    keep: int = 3,
    is_late: Callable[[], bool] = lambda: False,
) -> list[CrispTree]:
    """The best trees of all rounds, the best first.

    A state counts by how often the optimal policy and the trees so far visit it, times what wrong
    actions cost there. There are three ways to fit: by the costs of all actions, greedily or
    optimally, and CART.
    """
    states = model.observations
    actions, costs = teacher.act(states), teacher.regrets(states)

    def greedy(weights: NDArray) -> CrispTree:
        return grown(states, costs * weights[:, None], n_leaves, task)

    def cart(weights: NDArray) -> CrispTree:
        return _cart(states, actions, costs.max(1) * weights, n_leaves, task, seed)

    def optimal(weights: NDArray) -> CrispTree | None:
        draft = optimal_draft(states, costs * weights[:, None], n_leaves, is_late)
        return None if draft is None else tree_of(draft, task)

    found: dict[bytes, tuple[float, CrispTree]] = {}
    enough = model.mean_of(actions)
    for fit in (greedy, cart, optimal):
        visits = model.visits(actions)
        for _ in range(ROUNDS):
            is_done = found and (is_late() or max(mean for mean, _ in found.values()) >= enough)
            tree = None if is_done else fit(visits + FAINT * visits.mean())
            if tree is None:
                break
            chosen = tree.act(states)
            if fit is optimal and chosen.tobytes() in found:
                break
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
