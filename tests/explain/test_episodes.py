import numpy as np
from games import GUESS, RIGHT, STEPS, guess, shown

from crisptree.envs.seeds import episode_seeds
from crisptree.explain import reporting_seeds, visited
from crisptree.explain.episodes import returns_of


def test_every_decision_is_seen_once():
    seeds = reporting_seeds(70, 0)
    met = visited(RIGHT, GUESS, seeds)
    assert met.states.shape == (70 * STEPS, 2)
    assert (met.returns == STEPS).all()
    order = lambda states: states[np.lexsort(states.T)]
    assert np.array_equal(order(met.states), order(shown(seeds).reshape(-1, 2)))


def test_the_seeds_are_those_of_reports():
    assert reporting_seeds(3, 4) == episode_seeds("reporting", 4, 3)


def test_several_trees_play_the_same_episodes():
    seeds = reporting_seeds(20, 0)
    wrong = guess(("telling", 0.5, "low", "high"))
    found = returns_of([RIGHT, wrong], GUESS, seeds)
    assert (found[0] == STEPS).all() and (found[1] == 0).all()
