"""Trees drawn on a known model: optimal where few leaves suffice, never larger than asked for."""

import numpy as np
import pytest

from crisptree.crisp import CrispTree
from crisptree.crispen.draft import (
    Leaf,
    Split,
    actions_of,
    draft_of,
    n_leaves,
    parts,
    replaced,
    tree_of,
)
from crisptree.crispen.model_fit import fitted_trees
from crisptree.crispen.model_search import Best, ModelSearch
from crisptree.envs.task import Task, task_of
from crisptree.learn.exact_model import ExactModel, exact_model
from crisptree.learn.value_iteration import solve

DRAFT = Split(0, 1.5, Leaf(2), Split(1, 0.5, Leaf(1), Leaf(0)))


def test_a_draft_is_a_tree_and_back():
    task = task_of("crisptree/FrozenLake4x4-v0")
    tree = tree_of(DRAFT, task)
    assert draft_of(tree) == DRAFT
    states = np.array([[2, 0], [1, 1], [0, 0]], np.float32)
    assert actions_of(DRAFT, states).tolist() == tree.act(states).tolist() == [2, 1, 0]
    assert n_leaves(DRAFT) == tree.n_leaves == 3


def test_parts_say_which_states_reach_them():
    states = np.array([[2, 0], [1, 1], [0, 0]], np.float32)
    found = {path: rows.tolist() for path, _, rows in parts(DRAFT, states, np.arange(3))}
    assert found == {(): [0, 1, 2], (True,): [0], (False,): [1, 2], (False, True): [1],
                     (False, False): [2]}  # fmt: skip
    other = replaced(DRAFT, (False, True), Leaf(3))
    assert actions_of(other, states).tolist() == [2, 3, 0]


def setting(env: str, leaves: int) -> tuple[Task, ExactModel, ModelSearch, list[CrispTree]]:
    task = task_of(env)
    model, teacher = exact_model(task), solve(task)
    assert model is not None
    rng = np.random.default_rng(0)
    search = ModelSearch(model, teacher.act(model.observations), leaves, rng)
    return task, model, search, fitted_trees(model, teacher, leaves, task, 0)


@pytest.mark.parametrize(
    ("env", "leaves"),
    [
        ("CliffWalking-v1", 4),
        ("FrozenLake-v1", 8),
        ("crisptree/FrozenLake4x4-v0", 8),
        ("crisptree/Navigation3D-v0", 16),
        ("crisptree/SystemAdministratorTree-v0", 16),
    ],
)
def test_the_optimum_where_few_leaves_suffice(env, leaves):
    task, model, search, trees = setting(env, leaves)
    best = search.run(list(map(draft_of, trees)))
    tree = tree_of(best.draft, task)
    assert search.is_optimal(best)
    assert tree.n_leaves <= leaves
    assert model.mean_return(tree) == pytest.approx(best.mean)


def test_it_grows_from_a_single_leaf():
    _, _, search, _ = setting("crisptree/Xor-v0", 4)
    best = search.run([Leaf(0)])
    assert n_leaves(best.draft) <= 4
    assert best.mean > 0.95 * search.optimum


def test_what_gains_nothing_goes():
    _, model, search, _ = setting("crisptree/Xor-v0", 16)
    signs = Split(1, -0.5, Leaf(0), Leaf(1))
    exact = Split(0, -0.5, signs, Split(1, -0.5, Leaf(1), Leaf(0)))
    twice = Split(0, 50.0, exact, exact)
    smaller = search._smaller(Best(twice, model.mean_of(actions_of(twice, model.observations))))
    assert n_leaves(smaller.draft) == 4


def test_late_is_late():
    task, model, _, trees = setting("crisptree/FrozenLake8x8-v0", 8)
    optimal = solve(task).act(model.observations)
    search = ModelSearch(model, optimal, 8, np.random.default_rng(0), is_late=lambda: True)
    best = search.run([draft_of(trees[0])])
    assert best.mean >= model.mean_return(trees[0]) - 1e-9
