import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crisptree.crisp.rounding import rounded_down


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(width=32, allow_nan=False))
def test_every_float32_is_on_the_same_side(threshold, x):
    rounded = rounded_down(np.array([threshold]))
    assert rounded.dtype == np.float32
    with np.errstate(over="ignore"):
        beside = [np.nextafter(rounded[0], np.float32(side)) for side in (-np.inf, np.inf)]
    for value in (np.float32(x), rounded[0], *beside):
        assert (value > rounded[0]) == (float(value) > threshold)


def test_a_float32_stays():
    thresholds = [0.5, -0.0, float(np.finfo(np.float32).max), 1e-45, float(np.float32(0.1))]
    single = np.array(thresholds, np.float32)
    assert rounded_down(single.astype(float)).tolist() == single.tolist()


def test_beyond_float32():
    assert rounded_down(np.array([1e300, -1e300])).tolist() == [
        float(np.finfo(np.float32).max),
        -np.inf,
    ]
