import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crisptree.envs.seeds import EPISODES_PER_SEED, block_seed, episode_seeds

PURPOSES = ("training", "selection", "reporting")
WIDTH = 2**29
USER_SEEDS = st.integers(0, 2**63)


def range_of(purpose: str) -> range:
    start = PURPOSES.index(purpose) * WIDTH
    return range(start, start + WIDTH)


def test_the_ranges_do_not_meet_and_fit_a_signed_word():
    for one, other in itertools.combinations(PURPOSES, 2):
        assert range_of(one).stop <= range_of(other).start
    assert range_of("reporting").stop <= 2**31  # envpool's seeds are int32


@given(st.sampled_from(PURPOSES), USER_SEEDS, st.integers(0, 3000))
def test_episodes_stay_in_their_range_and_differ(purpose, seed, count):
    seeds = episode_seeds(purpose, seed, count)
    assert len(seeds) == len(set(seeds)) == count
    assert all(at in range_of(purpose) for at in seeds)


@given(
    st.sampled_from(PURPOSES),
    st.integers(1, 2**20),
    st.lists(st.integers(0, 2**64), min_size=1, max_size=3),
)
def test_blocks_stay_in_their_range(purpose, width, entropy):
    first = block_seed(purpose, width, *entropy)
    assert first in range_of(purpose)
    assert first + width - 1 in range_of(purpose)
    assert first == block_seed(purpose, width, *entropy)


def test_other_user_seeds_have_other_episodes():
    starts = {episode_seeds("reporting", seed, 1)[0] for seed in range(2**13)}
    assert len(starts) == 2**13
    assert all(
        other - one >= EPISODES_PER_SEED for one, other in itertools.pairwise(sorted(starts))
    )


def test_more_episodes_begin_with_the_same_ones():
    assert episode_seeds("selection", 3, 100)[:10] == episode_seeds("selection", 3, 10)


def test_blocks_are_spread_over_their_range():
    """Another training seed, or another update, has other environments."""
    blocks = {block_seed("training", 64, seed, at) for seed in range(20) for at in range(50)}
    assert len(blocks) == 1000
    assert min(blocks) < 0.01 * WIDTH
    assert max(blocks) > 0.99 * WIDTH
    assert all(block % 64 == 0 for block in blocks)


@pytest.mark.parametrize("purpose", PURPOSES)
def test_the_last_of_the_range_is_followed_by_its_first(purpose):
    last_start = (WIDTH - 1) // EPISODES_PER_SEED
    seeds = episode_seeds(purpose, last_start, EPISODES_PER_SEED + 1)
    assert seeds[-2:] == [range_of(purpose).stop - 1, range_of(purpose).start]
