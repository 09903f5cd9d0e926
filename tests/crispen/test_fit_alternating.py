"""Trees fitted by alternating optimisation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_task import box_task, multi_task, plain_task

from crisptree.crisp import CrispTree
from crisptree.crispen.fit import fit_cart
from crisptree.crispen.fit_alternating import ChoiceCosts, Vectors, alternated, targets_of

CHOICES = plain_task(("x", "y", "z"), ("a", "b", "c"))
PARTS = multi_task(("x", "y", "z"), [2, 3])
BOX = box_task(("x", "y", "z"), (-1.0, 0.0), (1.0, 4.0))
TASKS = {"choices": CHOICES, "parts": PARTS, "box": BOX}


def rows(seed: int, n: int = 400) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, 3)).astype(np.float32)


def labels_of(kind: str, states: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """What no small tree says exactly."""
    mixed = states @ random.normal(size=(3, 3)) + 0.3 * random.normal(size=(len(states), 3))
    if kind == "choices":
        return mixed.argmax(1)
    if kind == "parts":
        return np.stack([mixed[:, 0] > 0, mixed.argmax(1)], 1).astype(int)
    return np.clip(mixed[:, :2], (-1.0, 0.0), (1.0, 4.0))


def cost_of(tree: CrispTree, kind: str, states: np.ndarray, labels: np.ndarray, weights) -> float:
    """The same by hand: wrong choices, or squares of distances in units of the range."""
    actions = tree.act(states)
    if kind == "box":
        each = np.square((actions - labels) / np.array([2.0, 4.0])).sum(1)
    else:
        each = (actions != labels).reshape(len(labels), -1).sum(1)
    return float((each * weights).sum())


@pytest.mark.parametrize("kind", TASKS)
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1), n_leaves=st.integers(2, 12))
def test_it_never_costs_more_than_what_it_starts_from(kind, seed, n_leaves):
    random, states, task = np.random.default_rng(seed), rows(seed), TASKS[kind]
    labels, weights = labels_of(kind, states, random), random.uniform(0.5, 2, len(states))
    cart = fit_cart(states, labels, weights, n_leaves, task, seed)
    targets = targets_of(task.actions, labels, weights)
    swept = alternated([cart], states, targets, n_leaves, task, random)
    again = alternated([cart, swept], states, targets, n_leaves, task, random)
    costs = [cost_of(tree, kind, states, labels, weights) for tree in (cart, swept, again)]
    assert costs[0] >= costs[1] - 1e-6 and costs[1] >= costs[2] - 1e-6
    assert max(swept.n_leaves, again.n_leaves) <= n_leaves


def test_a_question_becomes_the_best_for_what_stands_below_it():
    """The root asks for x in the wrong place, and the questions below it are a little off."""
    states = rows(1, 2_000)
    right = np.where(states[:, 0] > 0.25, states[:, 1] > 0, 2 * (states[:, 2] > 0)).astype(int)
    nested = ("x", 1.2, ("y", 0.1, "b", "a"), ("z", -0.1, "c", "a"))
    start = CrispTree.from_nested(nested, **CHOICES.signature)
    targets = targets_of(CHOICES.actions, right)
    tree = alternated([start], states, targets, 4, CHOICES, np.random.default_rng(0))
    assert (tree.act(states) != right).mean() < 0.02
    assert tree.feature[0] == 0 and abs(tree.threshold[0] - 0.25) < 0.05


def test_a_perfect_tree_stays_as_it_is():
    states = rows(2)
    tree = CrispTree.from_nested(("x", 0.123, "a", ("y", -0.5, "b", "c")), **CHOICES.signature)
    targets = targets_of(CHOICES.actions, tree.act(states))
    same = alternated([tree], states, targets, 8, CHOICES, np.random.default_rng(0))
    assert same == tree


def test_among_equals_the_choice_that_needs_fewer_questions_is_taken():
    states = rows(3)
    costs = np.where(states[:, :1] > 0, (0.0, 0.0, 1.0), (1.0, 0.0, 1.0))
    start = CrispTree.from_nested(("x", 0.0, "a", "b"), **CHOICES.signature)
    targets = targets_of(CHOICES.actions, states, None, costs)
    tree = alternated([start], states, targets, 2, CHOICES, np.random.default_rng(0))
    assert tree.n_leaves == 1 and tree.act(states[:1])[0] == 1


def test_the_best_of_several_starts_counts():
    states = rows(4)
    right = (states[:, 0] > 0).astype(int)
    bad = CrispTree.from_nested("c", **CHOICES.signature)
    good = CrispTree.from_nested(("x", 0.0, "b", "a"), **CHOICES.signature)
    targets = targets_of(CHOICES.actions, right)
    for starts in ([bad, good], [good, bad]):
        tree = alternated(starts, states, targets, 2, CHOICES, np.random.default_rng(0))
        assert (tree.act(states) == right).all()


def test_vectors_cost_their_squared_distance():
    random = np.random.default_rng(5)
    vectors, weights = random.normal(size=(50, 2)), random.uniform(0.5, 2, 50)
    targets, every = Vectors.of(vectors, weights), np.arange(50)
    mean = np.average(vectors, axis=0, weights=weights)
    np.testing.assert_allclose(targets.best(targets.sums.sum(0)), mean)
    by_hand = weights * np.square(vectors - mean).sum(1)
    np.testing.assert_allclose(targets.costs(every, mean), by_hand)
    np.testing.assert_allclose(targets.cost(targets.sums.sum(0)), by_hand.sum())


def test_parts_are_chosen_apart():
    costs = np.array([[0.0, 1, 5, 0, 2], [3, 1, 0, 4, 2]])
    targets, every = ChoiceCosts(costs, (0, 2)), np.arange(2)
    total = targets.sums.sum(0)
    assert targets.best(total).tolist() == [1, 1]
    assert targets.cost(total) == 2 + 4
    assert targets.costs(every, np.array([1, 1])).tolist() == [1, 5]
