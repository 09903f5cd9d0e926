import numpy as np
import pytest

from crisptree.verify.search import Search
from crisptree.verify.space import Undecided


def test_nothing_found():
    search = Search(1)
    assert search.find(lambda space: [space.point.values[0] != space.point.values[0]], bool) is None


def test_what_is_found_is_confirmed_and_of_the_type():
    found = Search(2, np.float32).find(
        lambda space: [space.point.values[0] + space.point.values[1] > 1.5],
        lambda x: x[0] + x[1] > 1.5,
    )
    assert found is not None and sum(found) > 1.5
    assert all(float(np.float32(value)) == value for value in found)


def test_real_numbers_that_no_float_confirms():
    with pytest.raises(Undecided, match="no floats beside them"):
        Search(1).find(lambda space: [space.point.values[0] * 3 == 1], lambda x: 3 * x[0] == 2)
