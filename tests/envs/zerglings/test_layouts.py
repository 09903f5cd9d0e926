import numpy as np

from crisptree.envs.zerglings.layouts import respawns, starts
from crisptree.envs.zerglings.rules import GRAINS

CENTRE = np.array([32, 28])[:, None]
ROUNDING = 1.5 / GRAINS


def closest_pairs(table):
    xy = table / GRAINS
    gap = np.linalg.norm(xy[:, :, :, None] - xy[:, :, None, :], axis=1)
    gap[:, np.arange(xy.shape[2]), np.arange(xy.shape[2])] = np.inf
    return gap.min()


def test_starts_are_where_the_map_puts_them():
    table = starts()
    assert table.shape == (512, 2, 25) and table.dtype == np.int32
    assert closest_pairs(table) >= 5 - ROUNDING
    xy = table / GRAINS
    radius = np.linalg.norm(xy - CENTRE, axis=1)
    assert radius[:, 0].min() >= 8 - ROUNDING and radius[:, 0].max() <= 9 + ROUNDING
    assert radius[:, 1].min() >= 7.5 - ROUNDING and radius[:, 1].max() <= 9.5 + ROUNDING
    assert radius[:, 2:].min() >= 10.5 - ROUNDING
    rest = xy[:, :, 2:]
    assert rest[:, 0].min() >= 11 and rest[:, 0].max() <= 53
    assert rest[:, 1].min() >= 13 and rest[:, 1].max() <= 43


def test_respawns_fill_the_arena():
    table = respawns()
    assert table.shape == (512, 2, 40)
    assert closest_pairs(table) >= 5 - ROUNDING
    xy = table / GRAINS
    assert xy[:, 0].min() >= 10 and xy[:, 0].max() <= 54
    assert xy[:, 1].min() >= 12 and xy[:, 1].max() <= 44
    np.testing.assert_allclose(xy.mean((0, 2)), [32, 28], atol=0.3)


def test_tables_are_the_same_every_time():
    before = starts().tobytes(), respawns().tobytes()
    starts.cache_clear()
    respawns.cache_clear()
    assert (starts().tobytes(), respawns().tobytes()) == before
