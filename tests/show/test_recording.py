import numpy as np

from crisptree.show.recording import RecordedEpisode, Recording, fitted
from crisptree.show.video import VideoEncoder


def noisy(count=64, seed=0):
    rng = np.random.default_rng(seed)
    encoder = VideoEncoder()
    for _ in range(count):
        encoder.add(rng.integers(0, 32, (20, 20, 3), np.uint8) // 16 * 128)
    observations = np.zeros((count, 1, 2), np.float32)
    return RecordedEpisode(seed, observations, np.zeros(count - 1), "terminated", encoder.video())


RECORDING = Recording((noisy(), noisy(seed=1)), 50.0)


def size(recording):
    return sum(each.video.size for each in recording.episodes if each.video)


def test_what_fits_stays_as_it_is():
    assert fitted(RECORDING, size(RECORDING)) is RECORDING


def test_rarer_pictures_before_coarser_ones():
    half = fitted(RECORDING, size(RECORDING) * 6 // 10)
    assert [each.stride for each in half.episodes] == [2, 2]
    video = half.episodes[0].video
    assert video is not None and video.width == 20 and video.length == 32
    small = fitted(RECORDING, size(RECORDING) // 12)
    video = small.episodes[0].video
    assert video is not None and video.width == 10
    assert size(small) <= size(RECORDING) // 12


def test_no_pictures_at_all_if_nothing_fits():
    bare = fitted(RECORDING, 10)
    assert [each.video for each in bare.episodes] == [None, None]
    assert "too large" in bare.note


def test_the_states_are_those_with_a_decision():
    assert RECORDING.states.shape == (2 * 63, 2)
