import numpy as np
from cartpole_trees import CLUMSY, GOOD, LEFT, RIGHT, cartpole
from hypothesis import given
from hypothesis import strategies as st
from tree_strategies import NESTED, one_of_every_cell, tree_of

from crisptree.crispen import forest
from crisptree.crispen.forest import Forest, play_forest
from crisptree.envs.score import play


@given(st.lists(NESTED, min_size=1, max_size=4))
def test_every_tree_of_a_forest_decides_as_it_does_alone(nested):
    """In every cell of every tree, on the thresholds themselves."""
    trees = [tree_of(each) for each in nested]
    states = np.concatenate([one_of_every_cell(tree) for tree in trees])
    forest = Forest(trees)
    for number, tree in enumerate(trees):
        chosen = forest.actions(np.full(len(states), number), states)
        assert chosen.tolist() == tree.predict(states)[0].tolist()


@given(NESTED)
def test_a_tree_alone_decides_as_among_others(nested):
    """Where small ones have a way of their own."""
    tree = tree_of(nested)
    with np.errstate(over="ignore"):
        states = one_of_every_cell(tree).astype(np.float32)
    chosen = Forest([tree]).actions(np.zeros(len(states), int), states)
    assert chosen.tolist() == tree.predict(states)[0].tolist()


LINE_UP = [CLUMSY, cartpole(LEFT), GOOD, cartpole((2, 0.0, RIGHT, LEFT))]


def test_returns_do_not_depend_on_the_company():
    together = play_forest(LINE_UP, "CartPole-v0", range(7, 12))
    for tree, returns in zip(LINE_UP, together, strict=True):
        assert play_forest([tree], "CartPole-v0", range(7, 12)).tolist() == [returns.tolist()]
    assert together[2].tolist() == [200.0] * 5
    assert together[1].max() < 15


def test_without_envpool_gymnasium_plays(monkeypatch):
    monkeypatch.setattr(forest, "envpool_has", lambda _: False)
    together = play_forest(LINE_UP, "CartPole-v0", range(7, 10))
    for tree, returns in zip(LINE_UP, together, strict=True):
        assert returns.tolist() == play(tree, "CartPole-v0", range(7, 10)).tolist()


def test_blocks_of_episodes_meet_without_a_seam(monkeypatch):
    whole = play_forest(LINE_UP, "CartPole-v0", range(7, 12))
    monkeypatch.setattr("crisptree.envs.score.MOST_AT_ONCE", 3)
    assert play_forest(LINE_UP, "CartPole-v0", range(7, 12)).tolist() == whole.tolist()


def test_strictly_played_a_tree_is_out_where_it_first_falls_short():
    strict, whole = (
        play_forest(LINE_UP, "CartPole-v1", range(7, 27), strict=strict) for strict in (True, False)
    )
    assert strict[2].tolist() == whole[2].tolist() == [500.0] * 20
    for out, all_the_way in zip(strict, whole, strict=True):
        if all_the_way.min() < 500:
            assert (out == all_the_way.min()).all()
