import re
from itertools import pairwise

import matplotlib
import pytest

from crisptree.lab.analysis import analysis_figures as figures
from crisptree.lab.analysis.analysis_figures import draw
from crisptree.lab.plot_style import STYLE

MAKERS = (
    figures.updates,
    figures.policy_value,
    figures.optimality,
    figures.wrong_actions,
    figures.learning,
)


def test_the_same_bytes_every_time(papers):
    settings = dict(matplotlib.rcParams)
    first, second = dict(draw(papers)), dict(draw(papers))
    assert first == second
    assert dict(matplotlib.rcParams) == settings
    assert {name.partition(".")[0] for name in first} == {
        "updates",
        "policy-value",
        "optimality",
        "wrong-action",
        "learning",
    }
    for name, content in first.items():
        if name.endswith(".svg"):
            assert content.startswith(b"<?xml")
            assert not re.search(rb"<dc:date>|20\d\d-\d\d-\d\d", content)
        else:
            assert content.startswith(b"\x89PNG")
            assert b"Software" not in content


@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.__name__)
def test_axes_are_named_and_there_is_one_legend(papers, longer, maker):
    for analysis in (papers, longer):
        figure = maker(analysis)
        panels = [axes for axes in figure.axes if axes.axison]
        assert any("φ" in axes.get_xlabel() for axes in panels)
        assert any(axes.get_ylabel() for axes in panels)
        legends = [*figure.legends, *(a.get_legend() for a in figure.axes if a.get_legend())]
        assert len(legends) == 1


@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.__name__)
def test_the_legend_covers_no_panel(papers, longer, maker):
    for analysis in (papers, longer):
        with matplotlib.rc_context(STYLE):
            figure = maker(analysis)
        figure.draw_without_rendering()
        (legend,) = [*figure.legends, *(a.get_legend() for a in figure.axes if a.get_legend())]
        box = legend.get_window_extent()
        assert figure.bbox.x0 <= box.x0
        assert box.x1 <= figure.bbox.x1
        for axes in figure.axes:
            if axes.axison:
                assert not box.overlaps(axes.get_tightbbox())
                labels = [t.get_window_extent() for t in axes.get_xticklabels() if t.get_text()]
                assert all(not a.overlaps(b) for a, b in pairwise(labels))
