import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crisptree.verify import cells
from crisptree.verify.cells import Grid, TooManyPiecesError, grown, joined
from crisptree.verify.loop import Boxes

GRID = Grid(
    (tuple(np.arange(-1.0, 1.01, 0.25)), (0.0, 0.3), ()), (True, False, False), (0.25, 2**-8, 2**-8)
)
NUMBERS = st.floats(-2, 2, width=16)


@st.composite
def some_boxes(draw):
    rows = draw(st.lists(st.lists(NUMBERS, min_size=6, max_size=6), min_size=1, max_size=8))
    ends = np.sort(np.array(rows).reshape(-1, 3, 2), axis=2)
    return Boxes(ends[:, :, 0].copy(), ends[:, :, 1].copy())


def hold(cover, boxes, rng):
    for low, high in zip(boxes.low, boxes.high, strict=True):
        for point in rng.uniform(low + 0.0, high + 0.0, (20, 3)):
            inside = (cover.low <= point) & (point <= cover.high)
            if not inside.all(axis=1).any():
                return False
    return True


@given(some_boxes(), some_boxes())
def test_a_cover_loses_nothing(first, second):
    rng = np.random.default_rng(0)
    one, other = GRID.cover(first), GRID.cover(second)
    assert hold(one, first, rng) and (np.diff(one.keys) > 0).all()
    both = joined([one, other])
    assert hold(both, first, rng) and hold(both, second, rng)
    more, changed = grown(one, other)
    assert hold(more, first, rng) and hold(more, second, rng)
    assert np.array_equal(more.keys, both.keys) and np.array_equal(more.low, both.low)
    again, unchanged = grown(more, other)
    assert len(unchanged) == 0 and np.array_equal(again.high, more.high)
    same = np.setdiff1d(np.arange(len(more)), changed)
    kept = np.isin(one.keys, more.keys[same])
    assert np.array_equal(one.take(kept).low, more.take(same).low)


def test_boxes_keep_to_their_cells():
    cover = GRID.cover(Boxes(np.array([[0.1, -0.5, 0.0]]), np.array([[0.3, 0.1, 0.1]])))
    assert len(cover) == 4
    assert sorted(set(cover.low[:, 0])) == [0.0, 0.25] and sorted(set(cover.high[:, 0])) == [
        0.25,
        0.5,
    ]
    low, high = cover.low[0], cover.high[0]
    assert low[1] <= -0.5 and high[1] == 0.0 and low[2] <= 0 and 0.1 <= high[2] < 0.11
    assert GRID.cells_of(cover.keys).tolist() == [[5, 0, 0], [5, 1, 0], [6, 0, 0], [6, 1, 0]]


def test_no_boxes_are_no_cover():
    none = GRID.cover(Boxes(np.empty((0, 3)), np.empty((0, 3))))
    assert len(none) == 0 and len(joined([none, none])) == 0


def test_boxes_much_larger_than_cells_are_refused(monkeypatch):
    monkeypatch.setattr(cells, "MOST_PIECES", 3)
    with pytest.raises(TooManyPiecesError, match="4 pieces"):
        GRID.cover(Boxes(np.array([[0.1, -0.5, 0.0]]), np.array([[0.3, 0.1, 0.1]])))
