import numpy as np
from kinds_of_tasks import BOX

from crisptree.crispen.climb import best_drawn, climb, drawn
from crisptree.crispen.config import EvolveConfig
from crisptree.crispen.fit import fit_cart
from crisptree.crispen.select import Selection

RNG = np.random.default_rng(0)
STATES = RNG.normal(size=(400, 3)).astype(np.float32)
WANTED = np.where(STATES[:, 1:2] > 0.5, [1.0, 2.0], [-1.5, 7.0])


class Nearness(Selection):
    """Trees earn more the nearer they are to what is wanted; episodes are counted."""

    def returns(self, trees, episodes, least=2, most=None):
        errors = [np.square(tree.act(STATES) - WANTED).mean() for tree in trees]
        return -np.repeat(np.array(errors)[:, None], 2, 1)


class Hurried(Nearness):
    def affords(self, n_trees, episodes):
        return n_trees < 100


def test_a_drawn_tree_does_only_what_was_done_and_asks_only_for_what_was_met():
    for _ in range(20):
        tree = drawn(STATES, WANTED, 4, BOX, RNG)
        assert 1 <= tree.n_leaves <= 4
        inner = tree.feature >= 0
        for feature, threshold in zip(tree.feature[inner], tree.threshold[inner], strict=True):
            assert threshold in STATES[:, feature]
        done = {tuple(row) for row in WANTED.tolist()}
        assert {tuple(row) for row in tree.action[~inner].tolist()} <= done


def test_the_best_drawn_tree_wins_where_there_is_time():
    wide = fit_cart(STATES, WANTED, None, 4, BOX, 0)
    best = best_drawn(wide, 2, STATES, BOX, Nearness(BOX, 0), np.random.default_rng(0), 512)
    assert best is not None and best.n_leaves == 2 and best.feature[0] == 1
    assert best_drawn(wide, 2, STATES, BOX, Hurried(BOX, 0), RNG, 512) is None
    assert best_drawn(wide, 2, STATES, BOX, Nearness(BOX, 0), RNG, 10) is None


def test_climbing_leads_to_what_earns_more():
    tree = drawn(STATES, WANTED[::-1], 3, BOX, np.random.default_rng(1))
    settings, selection = EvolveConfig(generations=30, population=8), Nearness(BOX, 0)
    seen = []
    climbed = climb(
        tree,
        settings,
        selection,
        lambda tree: STATES,
        np.random.default_rng(0),
        lambda generation, score: seen.append(score),
    )
    before, after = selection.returns([tree, climbed], 2).mean(1)
    assert after > 0.3 * before and climbed.n_leaves <= tree.n_leaves
    assert seen == sorted(seen)  # nothing is taken that earns less
    late = climb(tree, settings, selection, lambda tree: STATES, RNG, is_late=lambda: True)
    assert late is tree
