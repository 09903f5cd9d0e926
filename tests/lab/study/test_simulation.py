from dataclasses import replace

import numpy as np
import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.lab.study.simulation import Assumptions, simulate_study
from crisptree.lab.study.validation import validated

NAN = float("nan")

ASSUMED = Assumptions((5.0, 4.0, 3.0), (5.0, 10.0, 20.0), (1.0, 0.5, 0.0))


def test_it_is_marked_and_has_the_shape_of_a_study():
    study = simulate_study(replace(ASSUMED, statements=4), 15, np.random.default_rng(0))
    assert study.simulated
    assert study.rating.shape == study.seconds.shape == study.accuracy.shape == (15, 3)
    assert study.scores.shape == (15, 3, 4)
    assert set(np.unique(study.scores)) <= set(range(1, 8))


def test_many_people_are_what_was_assumed():
    study = simulate_study(ASSUMED, 20_000, np.random.default_rng(0))
    # A little nearer to the middle than assumed: the scale ends at 1 and 7.
    assert study.rating.mean(axis=0) == pytest.approx([5.0, 4.0, 3.0], abs=0.08)
    assert study.accuracy.mean(axis=0) == pytest.approx([1.0, 0.5, 0.0], abs=0.01)
    one = simulate_study(replace(ASSUMED, items=1, statements=1), 20_000, np.random.default_rng(0))
    assert np.median(one.seconds, axis=0) == pytest.approx([5.0, 10.0, 20.0], rel=0.03)
    spread = np.log(one.seconds[:, 0]).std()
    assert spread == pytest.approx(np.sqrt(0.4**2 + 0.3**2 + 0.4**2), rel=0.03)


def test_one_seed_one_study():
    drawn = [
        simulate_study(ASSUMED, 5, np.random.default_rng(seed)).seconds.tolist()
        for seed in (1, 1, 2)
    ]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ratings": (5.0,)}, "each policy needs a rating, a time and a chance"),
        ({"ratings": (5.0,), "seconds": (5.0,), "correct": (0.9,)}, "two are needed"),
        ({"ratings": (5.0, 8.0, 1.0)}, r"ratings\[1\]: Input should be less than or equal to 7"),
        ({"ratings": (5.0, NAN, 1.0)}, r"ratings\[1\]: Input should be"),
        ({"seconds": (5.0, 0.0, 1.0)}, r"seconds\[1\]: Input should be greater than 0"),
        ({"correct": (5.0, 0.0, 1.0)}, r"correct\[0\]: Input should be less than or equal to 1"),
        ({"rating_sd": (-1.0, 0.0, 1.0)}, r"rating_sd\[0\]: Input should be greater than or"),
        ({"log_seconds_sd": (1.0, 1.0, NAN)}, r"log_seconds_sd\[2\]: Input should be"),
        ({"log_seconds_sd": (1.0, 1.0, 11.0)}, r"log_seconds_sd\[2\]: Input should be less"),
        ({"items": 0}, "items: Input should be greater than or equal to 1"),
        ({"statements": 1000}, "statements: Input should be less than or equal to 200"),
    ],
)
def test_impossible_assumptions_are_refused(changes, message):
    options = {"ratings": (5.0, 5.0, 5.0), "seconds": (5.0,) * 3, "correct": (0.9,) * 3}
    with pytest.raises(CrisptreeError, match=message):
        validated(Assumptions, options | changes)
