import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crisptree.show.video import FRAMES_PER_CHUNK, WIDEST, VideoEncoder, subsampled


def pictures(count, height=6, width=9, colours=5, seed=0):
    rng = np.random.default_rng(seed)
    palette = rng.integers(0, 32, (colours, 3)).astype(np.uint8) * 8
    return [palette[rng.integers(0, colours, (height, width))] for _ in range(count)]


def encoded(taken):
    encoder = VideoEncoder()
    for picture in taken:
        encoder.add(picture)
    return encoder.video()


def seen(video):
    return [video.palette[frame] for frame in video.frames()]


@given(st.integers(1, 2 * FRAMES_PER_CHUNK + 3), st.integers(1, 40))
def test_few_colours_come_back_as_they_were(count, colours):
    taken = pictures(count, colours=colours)
    video = encoded(taken)
    assert video.length == count and len(video.chunks) == -(-count // FRAMES_PER_CHUNK)
    assert all(map(np.array_equal, seen(video), taken))


def test_pictures_that_change_in_places():
    taken = [np.zeros((20, 30, 3), np.uint8)]
    for at in range(50):
        taken.append(taken[-1].copy())
        taken[-1][at % 20, at % 30] = (at * 5 % 256, 255, 0)
    assert all(
        (np.abs(a.astype(int) - b.astype(int)) < 8).all()
        for a, b in zip(seen(encoded(taken)), taken, strict=True)
    )


def test_more_than_256_colours_become_similar_ones():
    ramp = np.arange(0, 256, 8, dtype=np.uint8)
    picture = np.stack(np.meshgrid(ramp, ramp), -1)
    picture = np.dstack([picture, np.zeros((32, 32), np.uint8)])
    video = encoded([picture])
    assert len(video.palette) == 256
    assert np.abs(seen(video)[0].astype(int) - picture.astype(int)).max() < 256


def test_a_still_picture_costs_almost_nothing_more():
    black_or_white = np.random.default_rng(0).integers(0, 2, (100, 100, 1), np.uint8) * 255
    noise = np.repeat(black_or_white, 3, axis=2).astype(np.uint8)
    once, often = encoded([noise]), encoded([noise] * FRAMES_PER_CHUNK)
    assert often.size < once.size + 1500


def test_large_pictures_are_made_smaller():
    video = encoded([np.zeros((100, 3 * WIDEST, 3), np.uint8)])
    assert (video.width, video.height) == (WIDEST, 34)


def test_every_chunk_stands_alone():
    taken = pictures(FRAMES_PER_CHUNK + 1)
    video = encoded(taken)
    last = np.frombuffer(zlib.decompress(video.chunks[1]), np.uint8).reshape(6, 9)
    assert np.array_equal(video.palette[last], taken[-1])


@pytest.mark.parametrize(("stride", "step"), [(1, 1), (2, 1), (3, 2), (100, 1)])
def test_subsampled(stride, step):
    taken = pictures(70)
    video = subsampled(encoded(taken), stride, step)
    expected = [each[::step, ::step] for each in taken[::stride]]
    assert video.length == len(expected)
    assert all(map(np.array_equal, seen(video), expected))


def test_a_video_has_one_size_and_at_least_a_picture():
    encoder = VideoEncoder()
    with pytest.raises(ValueError, match="no picture"):
        encoder.video()
    encoder.add(np.zeros((2, 3, 3), np.uint8))
    with pytest.raises(ValueError, match="in a video of"):
        encoder.add(np.zeros((3, 3, 3), np.uint8))
