import io
import xml.etree.ElementTree as ElementTree

import matplotlib.image
import numpy as np
import pytest
from made_records import CARTPOLE, made, table_records

from crisptree.lab.experiments.experiment_figures import (
    ROW_STYLES,
    banded,
    curves,
    draw,
    pareto,
    robustness,
)
from crisptree.lab.experiments.groups import TITLES, groups_of

GROUPS = groups_of(table_records())


@pytest.fixture(scope="module")
def drawn():
    return dict(draw(GROUPS, CARTPOLE))


def test_every_figure_in_both_formats(drawn):
    assert set(drawn) == {
        f"cartpole-{what}.{kind}"
        for what in ("curves", "robustness", "pareto")
        for kind in ("svg", "png")
    }
    for name, content in drawn.items():
        if name.endswith("svg"):
            assert ElementTree.fromstring(content).tag.endswith("svg")
        else:
            assert matplotlib.image.imread(io.BytesIO(content)).std() > 0


def test_the_same_groups_give_the_same_bytes(drawn):
    assert dict(draw(GROUPS, CARTPOLE)) == drawn


@pytest.mark.parametrize("make", [curves, robustness, pareto])
def test_axes_are_named_there_is_one_legend_and_it_overlaps_nothing(make):
    figure = make(GROUPS, CARTPOLE)
    figure.draw_without_rendering()
    (legend,) = figure.legends
    box = legend.get_window_extent()
    for axes in figure.axes:
        assert axes.get_xlabel() and axes.get_legend() is None
        assert not box.overlaps(axes.get_tightbbox())
    assert "return (reward an episode)" in figure.axes[0].get_ylabel()


def test_every_row_looks_its_own():
    assert set(ROW_STYLES) == set(TITLES) and len(set(ROW_STYLES.values())) == len(TITLES)


def test_bands_are_mean_and_standard_error_where_all_seeds_have_been():
    (group,) = groups_of([made("mlp", 0, (10.0, 30.0))])
    steps, mean, error = banded(group)
    assert steps[[0, -1]].tolist() == [100.0, 300.0]
    assert mean[[0, -1]].tolist() == [0.0, 20.0] and error[-1] == pytest.approx(10.0)
    (alone,) = groups_of([made("mlp", 0, (10.0,))])
    assert np.all(banded(alone)[2] == 0)


def test_what_is_not_there_is_not_drawn():
    assert dict(draw([], CARTPOLE)) == {}
    only = groups_of([made("random", None, (1.0, 2.0))])
    assert dict(draw(only, CARTPOLE)) == {}
