import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crisptree.envs.wildfire.farsite import drift, length_to_breadth, normal_quantiles

winds = st.lists(st.floats(0.0, 40.0), min_size=2, max_size=2).map(np.array)


def test_known_values():
    np.testing.assert_allclose(length_to_breadth(np.array([0.0, 5.0])), [1.0, 3.1922], atol=1e-4)
    np.testing.assert_allclose(drift(np.array([0.0, 5.0])), [0.0, 0.4871], atol=1e-4)


@given(winds)
def test_the_two_published_forms_agree(wind):
    """C = ½(R - R/HB) with HB = (LB + s)/(LB - s), s = √(LB² - 1), is the form used here."""
    shape = length_to_breadth(wind)
    root = np.sqrt(np.maximum(shape**2 - 1, 0))
    # (LB - s) = 1 / (LB + s), which does not lose all digits in a gale.
    np.testing.assert_allclose(drift(wind), 0.5 * (1 - (shape + root) ** -2.0), atol=1e-7)


@given(winds)
def test_more_wind_drives_a_fire_faster_up_to_half_its_rate(wind):
    slow, fast = drift(np.sort(wind))
    assert 0 <= slow <= fast <= 0.5


def test_quantiles_are_those_of_the_normal_distribution():
    z = normal_quantiles(4096)
    np.testing.assert_allclose(z, -z[::-1], atol=1e-12)
    assert abs(z.mean()) < 1e-12 and abs(z.std() - 1) < 2e-3
    assert (np.diff(z) > 0).all()
