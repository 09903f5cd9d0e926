"""DAgger (Ross et al. 2011): a tree imitates a teacher on the states the tree itself visits."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from crisptree.crisp import CrispTree
from crisptree.crispen.rounding import rounded_down
from crisptree.crispen.select import Selection
from crisptree.envs.host import host_envs
from crisptree.envs.seeds import block_seed
from crisptree.envs.spaces import Task

Teacher = Callable[[np.ndarray], np.ndarray]
"""Observations (B, F) in, actions (B,) out."""

Fit = Callable[[np.ndarray, np.ndarray, int, Task, int], CrispTree]
"""States, actions, most leaves, task and seed in, a crisp tree out."""


class Distilled(NamedTuple):
    tree: CrispTree
    selection_return: float
    agreement: float


def distill(
    teacher: Teacher,
    task: Task,
    n_leaves: int,
    selection: Selection,
    *,
    seed: int,
    rounds: int = 30,
    episodes: int = 64,
    finalists: int = 6,
    fit: Fit | None = None,
    report: Callable[[int, float], None] | None = None,
) -> Distilled:
    """A tree of at most `n_leaves` leaves on all states so far, round after round.

    `fit` makes the tree: CART unless given. The best round by return is kept.
    """
    fit = fit or fit_cart
    envs = host_envs(task.env_id, episodes)
    states, actions = [], []
    trees: list[CrispTree] = []
    scores: list[float] = []
    play: Any = teacher
    for round_ in range(rounds + 1):
        first = block_seed("training", episodes, seed, round_)
        seen, returns = _episodes(play, envs, first)
        if round_:
            scores.append(float(returns.mean()))
        states.append(seen)
        actions.append(np.asarray(teacher(seen)))
        if report is not None:
            report(round_, float(returns.mean()))
        if round_ == rounds:
            break
        tree = fit(np.concatenate(states), np.concatenate(actions), n_leaves, task, seed)
        trees.append(tree)
        play = lambda x, tree=tree: tree.predict(x)[0]
    envs.close()
    best = np.argsort(scores)[::-1][:finalists]
    index, score = selection.race([trees[i] for i in best], (64, 128))
    chosen = trees[best[index]]
    every_state = np.concatenate(states)
    agreement = float((chosen.predict(every_state)[0] == np.concatenate(actions)).mean())
    return Distilled(chosen, score, agreement)


def _episodes(play: Teacher, envs, first_seed: int) -> tuple[np.ndarray, np.ndarray]:
    """States and returns of one episode an environment."""
    at = envs.reset(first_seed)
    running, returns = np.ones(len(at), bool), np.zeros(len(at))
    seen = []
    while running.any():
        seen.append(at[running])
        chosen = np.zeros(len(at), np.int64)
        chosen[running] = play(at[running])
        step = envs.step(chosen)
        returns += np.where(running, step.reward, 0)
        running = running & ~(step.terminated | step.truncated)
        at = step.observation
    return np.concatenate(seen), returns


def fit_cart(
    states: np.ndarray, actions: np.ndarray, n_leaves: int, task: Task, seed: int
) -> CrispTree:
    """CART (scikit-learn) as a crisp tree; its left is `x <= t`, our FALSE."""
    # Here, not above: it takes as long to import as JAX, and the direct route never needs it.
    from sklearn.tree import DecisionTreeClassifier

    cart = DecisionTreeClassifier(max_leaf_nodes=n_leaves, min_samples_leaf=5, random_state=seed)
    cart.fit(states, actions)
    tree = cart.tree_
    leaf = tree.children_left < 0
    return CrispTree(
        feature=np.where(leaf, -1, tree.feature),
        threshold=np.where(leaf, 0.0, rounded_down(tree.threshold).astype(np.float64)),
        if_true=tree.children_right,
        if_false=tree.children_left,
        action=np.where(leaf, cart.classes_[tree.value[:, 0].argmax(1)], -1),
        feature_names=task.feature_names,
        action_names=task.action_names,
        env_id=task.env_id,
    ).simplify()
