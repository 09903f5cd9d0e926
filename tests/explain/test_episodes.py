import numpy as np
import pytest
from games import RIGHT, STEPS, guess, shown

from crisptree.base.errors import CrisptreeError
from crisptree.explain import reporting_seeds, visited


def test_every_decision_is_seen_once():
    seeds = reporting_seeds(RIGHT, "Guess-v0", 70, 0)
    met = visited(RIGHT, "Guess-v0", seeds)
    assert met.states.shape == (70 * STEPS, 2)
    assert (met.returns == STEPS).all()
    order = lambda states: states[np.lexsort(states.T)]
    assert np.array_equal(order(met.states), order(shown(seeds).reshape(-1, 2)))


def test_the_seeds_are_those_of_reports():
    from crisptree.envs.seeds import episode_seeds

    assert reporting_seeds(RIGHT, "Guess-v0", 3, 4) == episode_seeds("reporting", 4, 3)


def test_another_environment():
    message = "the policy has 2 features and 2 actions, 'CartPole-v1' has 4 and 2"
    with pytest.raises(CrisptreeError, match=message):
        reporting_seeds(guess(0), "CartPole-v1", 3, 0)
