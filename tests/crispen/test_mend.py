"""A tree that loses one episode in many is changed by the episodes that it lost."""

import numpy as np
import pytest
from cartpole_trees import CLUMSY, GOOD, TASK

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.crispen.config import SearchConfig, SelectionConfig
from crisptree.crispen.mend import Check, check, is_lost, mend
from crisptree.crispen.select import Selection
from crisptree.envs.task import task_of

SEARCH = SearchConfig(sweeps=20, width=16, confirm=64)
ROUNDS = SelectionConfig(settled=(64, 1_024), compiled=(4_096,))
LIMIT, NEAR = 0.9, 0.001
"""Where the action has to change, and how near to it either action is right."""


class Guesses(Selection):
    """An episode shows one number in 0 … 1, which follows from its seed. It earns 1 if the tree
    says on which side of the limit the number lies."""

    def __init__(self, compiled: bool = False, has_time: bool = True) -> None:
        super().__init__(TASK, 0)
        self.compiled, self.has_time, self.played = compiled, has_time, []

    def is_compiled(self):
        return self.compiled

    def affords(self, n_trees, episodes):
        return self.has_time

    def returns_on(self, trees, seeds):
        self.played.append((len(trees), len(seeds)))
        seen = (np.asarray(seeds, np.float64) * 0.618033988749895 % 1.0)[:, None]
        is_near = np.abs(seen[:, 0] - LIMIT) < NEAR
        right = [is_near | (tree.act(seen) == (seen[:, 0] > LIMIT)) for tree in trees]
        return np.stack(right).astype(float)


def one(threshold: float) -> CrispTree:
    return CrispTree.from_nested(("x", threshold, 1, 0), ("x",), ("low", "high"))


def mended(tree: CrispTree, selection: Selection, search: SearchConfig = SEARCH, **others):
    states = np.linspace(0, 1, 2_001)[:, None]
    rng = np.random.default_rng(0)
    return mend(tree, 1.0, search, ROUNDS, selection, lambda _: states, rng, 2, **others)


def test_returns_below_the_best_are_lost():
    returns = np.array([500.0, 499.9, 500.0 - 1e-8, 501.0])
    assert is_lost(returns, 500.0).tolist() == [False, True, False, False]


def test_a_check_ends_with_the_round_of_the_first_lost_episode():
    selection = Guesses(compiled=True)
    found = check(one(LIMIT + 0.004), 1.0, selection, ROUNDS)
    assert selection.played[-1] == (1, 1_024) and 0 < found.share < 0.01
    assert selection.returns_on([one(LIMIT + 0.004)], found.lost)[0].tolist() == [0] * len(
        found.lost
    )


@pytest.mark.parametrize(("compiled", "rounds"), [(False, [64, 1_024]), (True, [64, 1_024, 4_096])])
def test_compiled_episodes_are_checked_in_further_rounds(compiled, rounds):
    selection = Guesses(compiled)
    assert check(one(LIMIT), 1.0, selection, ROUNDS).is_flawless
    assert [n for _, n in selection.played] == rounds


def test_further_rounds_need_time(monkeypatch):
    selection = Guesses(compiled=True)
    monkeypatch.setattr(selection, "is_quick", lambda episodes: False)
    assert check(one(LIMIT), 1.0, selection, ROUNDS).is_flawless
    assert [n for _, n in selection.played] == [64, 1_024]


def test_without_time_nothing_is_flawless():
    assert check(one(LIMIT), 1.0, Guesses(has_time=False), ROUNDS) == Check((), 1.0, is_whole=False)
    assert not mended(one(LIMIT), Guesses(has_time=False)).is_flawless


def test_a_nearly_flawless_tree_is_mended():
    found = mended(one(LIMIT + 0.01), Guesses(compiled=True))
    assert found.is_flawless and found.n_lost > 0
    assert abs(found.tree.threshold[0] - LIMIT) < 2 * NEAR


def test_a_flawless_tree_and_a_bad_one_stay_as_they_are():
    for tree, is_flawless in ((one(LIMIT), True), (one(0.5), False)):
        selection = Guesses(compiled=True)
        found = mended(tree, selection)
        assert found.tree == tree and found.is_flawless is is_flawless
        assert all(n_trees == 1 for n_trees, _ in selection.played)


class Varied(Guesses):
    """Every episode earns as much as was ever earned, or more."""

    def returns_on(self, trees, seeds):
        return 1.0 + np.tile(np.asarray(seeds, np.float64) % 7, (len(trees), 1))


def test_where_returns_differ_nothing_is_flawless():
    found = mended(one(LIMIT), Varied())
    assert not found.is_flawless and found.tree == one(LIMIT)


def test_it_ends_when_it_is_late_or_nothing_is_gained():
    tree = one(LIMIT + 0.01)
    assert mended(tree, Guesses(), is_late=lambda: True).tree == tree
    tries = []
    impatient = SearchConfig(sweeps=20, width=1, confirm=64, patience=1)
    mended(tree, Stuck(), impatient, report=lambda *_: tries.append(1))
    assert len(tries) == 8


class Stuck(Guesses):
    """No change helps."""

    def returns_on(self, trees, seeds):
        returns = super().returns_on(trees, seeds)
        return np.tile(returns[:1], (len(trees), 1))


def test_episodes_can_be_played_again():
    selection = Selection(TASK, 3)
    seeds = selection.fresh(64)
    assert set(seeds).isdisjoint(selection.fresh(64))
    returns = selection.returns_on([GOOD, CLUMSY], seeds)
    assert returns is not None and returns.shape == (2, 64)
    again = selection.returns_on([CLUMSY], seeds[5:8])
    assert again is not None and (again[0] == returns[1, 5:8]).all()


def test_what_is_compiled():
    assert Selection(TASK, 0).is_compiled()
    assert not Selection(task_of("MountainCar-v0"), 0).is_compiled()


@pytest.mark.parametrize("wrong", [{"lost": 0}, {"lost_share": 1.5}])
def test_settings_are_checked(wrong):
    with pytest.raises(CrisptreeError, match=r"search\.lost"):
        SearchConfig(**wrong)
