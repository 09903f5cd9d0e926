"""The worst start: a search that a mean would not need to make."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_strategies import LEAVES, inner, tree_of

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.crispen.config import WorstCaseConfig
from crisptree.crispen.prune import rows_by_node
from crisptree.crispen.worst_case import _with_worse, changed, grown, improved, tail

QUICK = WorstCaseConfig(enabled=True, starts=64, hard=8, width=8, rounds=60, patience=60)
SPLITS = inner(st.recursive(LEAVES, inner, max_leaves=12))


@dataclass
class Guessing:
    """A start is a number; a tree does well from it if it says on which side of 0.7 it lies."""

    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    def starts(self, n):
        return self.rng.uniform(0, 1, (n, 1))

    def near(self, worst, n):
        return np.clip(self.rng.normal(worst[self.rng.integers(len(worst), size=n)], 0.01), 0, 1)

    def scores(self, trees, starts):
        wanted = (starts[:, 0] > 0.7).astype(int)
        distance = np.abs(starts[:, 0] - 0.7)
        return np.stack([np.where(tree.act(starts) == wanted, 0.0, -distance) for tree in trees])

    def harder(self) -> bool:
        return False

    def states(self, tree):
        return np.linspace(0, 1, 200)[:, None]


@dataclass
class Harder(Guessing):
    """Only starts far from 0.7 count at first."""

    level: int = 0

    def scores(self, trees, starts):
        far = np.abs(starts[:, 0] - 0.7) > (0.2, 0.05, 0.0)[self.level]
        return np.where(far, super().scores(trees, starts), 0.0) + 0.01

    def harder(self) -> bool:
        self.level += self.level < 2
        return self.level < 2


def one(threshold):
    return CrispTree.from_nested(("x", threshold, 1, 0), ("x",), ("low", "high"))


def test_the_lowest_share_counts_and_then_the_mean():
    scores = np.array([5.0, 1.0, 3.0, 3.0])
    assert tail(scores, 0.5) == (2.0, 3.0)
    assert tail(scores, 0.01) == (1.0, 3.0)


def test_the_worst_starts_are_put_right():
    found, starts = improved(one(0.2), Guessing(), QUICK, 2, np.random.default_rng(1))
    assert abs(found.threshold[0] - 0.7) < 0.02
    assert len(starts) == QUICK.starts


def test_a_trial_gets_harder_when_the_tree_does_well():
    trial = Harder()
    found, _ = improved(one(0.2), trial, QUICK, 2, np.random.default_rng(1))
    assert trial.level == 2 and abs(found.threshold[0] - 0.7) < 0.06
    unmet = Harder()
    improved(one(0.2), unmet, replace(QUICK, rounds=1), 2, np.random.default_rng(1))
    assert unmet.level == 0


def test_the_adversary_finds_worse_starts():
    trial, tree = Guessing(), one(0.5)
    starts = trial.starts(QUICK.starts)
    scores = trial.scores([tree], starts)[0]
    others, found = _with_worse(tree, trial, QUICK, starts, scores)
    assert found.shape == scores.shape and (trial.scores([tree], others)[0] == found).all()
    assert tail(found, 0.1) < tail(scores, 0.1)


def test_it_ends_when_it_is_late():
    rounds = []
    improved(
        one(0.2),
        Guessing(),
        QUICK,
        2,
        np.random.default_rng(1),
        report=lambda number, *_: rounds.append(number),
        is_late=lambda: len(rounds) == 3,
    )
    assert rounds == [1, 2, 3]


@given(SPLITS, st.integers(0, 2**16))
def test_a_leaf_becomes_a_question(nested, seed):
    tree = tree_of(nested)
    rng = np.random.default_rng(seed)
    states = rng.normal(size=(30, tree.n_features))
    more = grown(tree, states, rng)
    assert more.n_leaves == tree.n_leaves + 1
    elsewhere = more.apply(states) < tree.n_nodes
    assert (more.act(states) == tree.act(states))[elsewhere].all()


@given(SPLITS, st.integers(0, 2**16))
def test_never_more_leaves_than_asked_for(nested, seed):
    tree = tree_of(nested)
    rng = np.random.default_rng(seed)
    states = rng.normal(size=(30, tree.n_features))
    rows = dict(rows_by_node(tree, states))
    assert changed(tree, states, rows, tree.n_leaves, rng).n_leaves == tree.n_leaves


@pytest.mark.parametrize("wrong", [{"share": 0.0}, {"starts": 0}, {"push": -1.0}])
def test_settings_that_cannot_be_meant(wrong):
    with pytest.raises(CrisptreeError, match="worst_case"):
        WorstCaseConfig(**wrong)
