"""Many generators' first numbers at once: NumPy's own, bit for bit."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from crisptree.envs.first_draws import first_uniforms


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=20), st.integers(1, 6))
@example([0, 1, 2**32 - 1, 2**32, 2**63, 2**64 - 1], 4)
def test_they_are_those_of_default_rng(seeds, n):
    expected = [np.random.default_rng(seed).uniform(-0.05, 0.05, n) for seed in seeds]
    assert first_uniforms(seeds, -0.05, 0.05, n).T.tobytes() == np.array(expected).tobytes()


def test_the_seeds_of_a_long_selection():
    seeds = range(2**29, 2**29 + 5000)
    drawn = first_uniforms(seeds, 0.0, 1.0, 2)
    assert drawn.shape == (2, 5000)
    assert drawn[:, -1].tolist() == np.random.default_rng(seeds[-1]).uniform(size=2).tolist()
    assert abs(drawn.mean() - 0.5) < 0.02
