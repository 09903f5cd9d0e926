import numpy as np

from crisptree.show.film import Camera
from crisptree.show.replay import Episode, Replay, fitted


def noisy(count=64, seed=0):
    rng = np.random.default_rng(seed)
    camera = Camera()
    for _ in range(count):
        camera.take(rng.integers(0, 32, (20, 20, 3), np.uint8) // 16 * 128)
    observations = np.zeros((count, 1, 2), np.float32)
    return Episode(seed, observations, np.zeros(count - 1), "terminated", camera.film())


REPLAY = Replay((noisy(), noisy(seed=1)), 50.0)


def size(replay):
    return sum(each.film.size for each in replay.episodes if each.film)


def test_what_fits_stays_as_it_is():
    assert fitted(REPLAY, size(REPLAY)) is REPLAY


def test_rarer_pictures_before_coarser_ones():
    half = fitted(REPLAY, size(REPLAY) * 6 // 10)
    assert [each.stride for each in half.episodes] == [2, 2]
    assert half.episodes[0].film.width == 20 and half.episodes[0].film.length == 32
    small = fitted(REPLAY, size(REPLAY) // 12)
    assert small.episodes[0].film.width == 10
    assert size(small) <= size(REPLAY) // 12


def test_no_pictures_at_all_if_nothing_fits():
    bare = fitted(REPLAY, 10)
    assert [each.film for each in bare.episodes] == [None, None]
    assert "too large" in bare.note


def test_the_states_are_those_with_a_decision():
    assert REPLAY.states.shape == (2 * 63, 2)
