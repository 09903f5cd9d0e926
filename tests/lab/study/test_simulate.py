import numpy as np
import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.lab.study.simulate import Assumptions, simulate_study

ASSUMED = Assumptions((5.0, 4.0, 3.0), (5.0, 10.0, 20.0), (1.0, 0.5, 0.0))


def test_it_is_marked_and_has_the_shape_of_a_study():
    study = simulate_study(ASSUMED, 15, 5, 4, np.random.default_rng(0))
    assert study.simulated
    assert study.rating.shape == study.seconds.shape == study.accuracy.shape == (15, 3)
    assert study.scores.shape == (15, 3, 4)
    assert set(np.unique(study.scores)) <= set(range(1, 8))


def test_many_people_are_what_was_assumed():
    study = simulate_study(ASSUMED, 20_000, 5, 5, np.random.default_rng(0))
    # A little nearer to the middle than assumed: the scale ends at 1 and 7.
    assert study.rating.mean(axis=0) == pytest.approx([5.0, 4.0, 3.0], abs=0.08)
    assert study.accuracy.mean(axis=0) == pytest.approx([1.0, 0.5, 0.0], abs=0.01)
    one = simulate_study(ASSUMED, 20_000, 1, 1, np.random.default_rng(0))
    assert np.median(one.seconds, axis=0) == pytest.approx([5.0, 10.0, 20.0], rel=0.03)
    spread = np.log(one.seconds[:, 0]).std()
    assert spread == pytest.approx(np.sqrt(0.4**2 + 0.3**2 + 0.4**2), rel=0.03)


def test_one_seed_one_study():
    drawn = [
        simulate_study(ASSUMED, 5, 5, 5, np.random.default_rng(seed)).seconds.tolist()
        for seed in (1, 1, 2)
    ]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize(
    ("ratings", "seconds", "correct", "message"),
    [
        ((5.0,), (5.0,), (0.9,), "two aids"),
        ((5.0, 4.0), (5.0,), (0.9, 0.9), "each aid needs one"),
        ((5.0, 8.0), (5.0, 5.0), (0.9, 0.9), "must lie in 1 … 7"),
        ((5.0, 4.0), (5.0, 0.0), (0.9, 0.9), "more than 0 seconds"),
        ((5.0, 4.0), (5.0, 5.0), (0.9, 1.9), "must lie in 0 … 1"),
    ],
)
def test_impossible_assumptions_are_refused(ratings, seconds, correct, message):
    with pytest.raises(CrisptreeError, match=message):
        Assumptions(ratings, seconds, correct)
