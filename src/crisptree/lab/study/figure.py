"""The paper's figure: ratings and times per aid, with bands, and every person as a thin line."""

import io
import math

import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.lab.study.analysis import Analysis
from crisptree.lab.study.measures import Measured
from crisptree.lab.study.words import name_of

# Okabe and Ito's colours, and a marker each: neither is needed to tell the aids apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P")


def draw(analysis: Analysis, file_format: str) -> bytes:
    """The figure as an SVG or PNG file; the same analysis gives the same bytes."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise CrisptreeError("the figure needs matplotlib: pip install 'crisptree[plot]'") from None
    measured = analysis.measured
    out = io.BytesIO()
    with matplotlib.rc_context(
        {"svg.hashsalt": "crisptree", "svg.fonttype": "none", "font.size": 10}
    ):
        figure = Figure(figsize=(8.0, 3.8), layout="constrained")
        left, right = figure.subplots(1, 2)
        ratings = [(each.rating_mean, *each.rating_95) for each in analysis.aids]
        _panel(left, measured, measured.rating, ratings)
        left.set(ylabel="rating (1 … 7, higher is better)", ylim=(0.8, 7.2))
        times = [(each.seconds_mean, *each.seconds_95) for each in analysis.aids]
        _panel(right, measured, measured.seconds, times)
        questions = f"{measured.n_items} questions" if measured.n_items != 1 else "one question"
        right.set(ylabel=f"seconds for {questions} (lower is better)")
        right.set_ylim(bottom=0)
        n = len(measured.people)
        people = "simulated people" if measured.simulated else "people"
        figure.suptitle(
            f"{'SIMULATED – no real answers. ' if measured.simulated else ''}"
            f"{n} {people}; means, 95 % intervals, and each of them as a line",
            fontsize=10,
            color="#a00000" if measured.simulated else "black",
        )
        metadata = {"Date": None} if file_format == "svg" else {"Software": None}
        figure.savefig(out, format=file_format, dpi=150, metadata=metadata)
    return out.getvalue()


def _panel(
    axes, measured: Measured, values: np.ndarray, means: list[tuple[float, float, float]]
) -> None:
    places = np.arange(len(measured.aids))
    for person in values:
        axes.plot(places, person, color="#999999", linewidth=0.6, alpha=0.6, zorder=1)
    for at, (mean, low, high) in enumerate(means):
        colour, marker = COLOURS[at % len(COLOURS)], MARKERS[at % len(MARKERS)]
        if not math.isnan(low):
            axes.fill_between([at - 0.22, at + 0.22], low, high, color=colour, alpha=0.3, zorder=2)
        axes.plot([at - 0.22, at + 0.22], [mean, mean], color=colour, linewidth=2, zorder=3)
        axes.plot([at], [mean], marker=marker, color=colour, markersize=8, zorder=4)
    axes.set_xticks(places, [name_of(aid) for aid in measured.aids])
    axes.set_xlim(-0.5, len(places) - 0.5)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
