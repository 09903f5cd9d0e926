import numpy as np
from cartpole_trees import ANGLE, GOOD, LEFT, RIGHT, TASK, cartpole
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_task import box_task, multi_task
from tree_strategies import LEAVES, LISTS, inner, one_of_every_cell, tree_of

from crisptree.crisp import CrispTree
from crisptree.crispen.agreement import disagreement
from crisptree.crispen.grow import (
    Insertion,
    exchanges,
    grow_by_return,
    inserted,
    insertions,
    larger_trees,
)
from crisptree.crispen.prune import visited_states
from crisptree.crispen.select import Selection

TREES = st.recursive(LEAVES, inner, max_leaves=10)


def states_for(seed: int, n: int = 200) -> np.ndarray:
    """Rounded, so that values are met several times."""
    raw = np.random.default_rng(seed).normal(0, 1.5, size=(n, 3))
    return (np.round(raw * 4) / 4).astype(np.float32)


def with_insertion(tree: CrispTree, insertion: Insertion, row: np.ndarray) -> int:
    """What the tree with the insertion does, told by its path."""
    passes = insertion.node in tree.decision_path(row)
    holds = (row[insertion.feature] > insertion.threshold) == insertion.when
    return int(insertion.action if passes and holds else tree.predict(row)[0])


@settings(max_examples=60)
@given(TREES, st.integers(0, 1000), st.booleans(), st.integers(0, 2), st.floats(-2, 2, width=32))
def test_an_insertion_changes_one_side_of_one_node(nested, at, when, feature, threshold):
    tree = tree_of(nested)
    insertion = Insertion(at % tree.n_nodes, feature, threshold, when, 1, 0.0)
    larger = inserted(tree, insertion)
    assert larger.n_leaves <= tree.n_leaves + 1
    for row in np.concatenate([one_of_every_cell(larger), one_of_every_cell(tree)]):
        assert larger.predict(row)[0] == with_insertion(tree, insertion, row)


@settings(max_examples=60)
@given(TREES, TREES, st.integers(0, 1000))
def test_gains_are_what_the_teacher_agrees_with_more(nested, taught, seed):
    tree, teacher, states = tree_of(nested), tree_of(taught), states_for(seed)
    wanted = teacher.act(states)
    before = disagreement(tree.actions, tree.act(states), wanted).sum()
    found = insertions(tree, states, wanted)
    assert [each.gain for each in found] == sorted((each.gain for each in found), reverse=True)
    for each in found[:5]:
        after = disagreement(tree.actions, inserted(tree, each).act(states), wanted).sum()
        assert before - after == each.gain > 0
        assert np.float32(each.threshold) == each.threshold


def test_the_best_insertion_is_the_question_that_is_missing():
    teacher = tree_of((0, 0.5, (1, -0.25, 2, 0), 1))
    tree = tree_of((0, 0.5, 2, 1))
    states = states_for(0, 2000)
    best = insertions(tree, states, teacher.act(states))[0]
    assert (best.feature, best.when, int(best.action)) == (1, False, 0)
    assert (inserted(tree, best).act(states) == teacher.act(states)).all()


def test_who_agrees_with_the_teacher_has_nothing_put_in():
    tree = tree_of((0, 0.5, 2, 1))
    states = states_for(0)
    assert insertions(tree, states, tree.act(states)) == []
    assert larger_trees(tree, states, tree, is_list=False, most=4) == []


@settings(max_examples=40)
@given(LISTS, TREES, st.integers(0, 1000))
def test_a_list_stays_a_list(nested, taught, seed):
    tree, teacher, states = tree_of(nested).simplify(), tree_of(taught), states_for(seed)
    rng = np.random.default_rng(seed)
    for each in larger_trees(tree, states, teacher, is_list=True, most=5):
        assert each.is_rule_list and each.n_leaves == tree.n_leaves + 1
    for each in exchanges(tree, states, teacher, rng, is_list=True, most=5):
        assert each.is_rule_list and each.n_leaves <= tree.n_leaves


def test_real_and_several_actions_are_put_in_too():
    states = states_for(1, 500)
    for task, action, other in (
        (box_task(("a", "b", "c"), [-2.0], [2.0]), [1.5], [-1.0]),
        (multi_task(("a", "b", "c"), (3, 2)), [2, 1], [0, 0]),
    ):
        tree = CrispTree.leaf(other, **task.signature)
        teacher = CrispTree.from_nested((1, 0.25, action, other), **task.signature)
        best = insertions(tree, states, teacher.act(states))[0]
        larger = inserted(tree, best)
        assert (larger.act(states) == teacher.act(states)).all()


def test_growing_finds_what_balances_the_pole():
    """One question of a tree that balances is left; the race finds the others."""
    tree = cartpole((ANGLE, 0.0, RIGHT, LEFT))
    selection = Selection(TASK, 1)
    met = lambda tree: visited_states(tree, TASK, 0, episodes=16)
    before = selection.mean(tree, 100)
    grown = grow_by_return(tree, 4, GOOD, selection, met, is_list=False, rounds=(16, 32))
    assert grown.n_leaves == 4
    assert selection.mean(grown, 100) > 3 * before
