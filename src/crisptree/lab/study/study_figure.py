"""The paper's figure: ratings and times of each policy, with bands, and every person as a line."""

import math

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from crisptree.lab.plot_style import (
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    STYLE,
    figure_bytes,
)
from crisptree.lab.study.measures import Measured
from crisptree.lab.study.study_results import StudyResults
from crisptree.lab.study.summary_text import name_of

# A marker for each policy too: nobody needs the colours to tell them apart.
STYLES = tuple(zip((BLUE, RED, GREEN, PURPLE, ORANGE, SKY), "os^DvP", strict=True))


def draw(results: StudyResults, file_format: str) -> bytes:
    """The figure as an SVG or PNG file; the same results give the same bytes."""
    style = {**STYLE, "svg.fonttype": "none", "font.size": 10}
    measured = results.measured
    with matplotlib.rc_context(style):
        figure = Figure(figsize=(8.0, 3.8), layout="constrained")
        left, right = figure.subplots(1, 2)
        ratings = [(each.rating_mean, *each.rating_95) for each in results.policies]
        _panel(left, measured, measured.rating, ratings)
        left.set(ylabel="rating (1 … 7, higher is better)", ylim=(0.8, 7.2))
        times = [(each.seconds_mean, *each.seconds_95) for each in results.policies]
        _panel(right, measured, measured.seconds, times)
        questions = f"{measured.n_items} questions" if measured.n_items != 1 else "one question"
        right.set(ylabel=f"seconds for {questions} (lower is better)")
        right.set_ylim(bottom=0)
        people = f"{len(measured.people)} {'simulated ' if measured.simulated else ''}people"
        figure.suptitle(
            f"{'SIMULATED – no real answers. ' if measured.simulated else ''}"
            f"{people}; means, 95 % intervals, and each of them as a line",
            fontsize=10,
            color="#a00000" if measured.simulated else "black",
        )
        return figure_bytes(figure, file_format, style)


def _panel(
    axes: Axes, measured: Measured, values: np.ndarray, means: list[tuple[float, float, float]]
) -> None:
    places = np.arange(len(measured.policies))
    for person in values:
        axes.plot(places, person, color="#999999", linewidth=0.6, alpha=0.6, zorder=1)
    for at, (mean, low, high) in enumerate(means):
        colour, marker = STYLES[at % len(STYLES)]
        if not math.isnan(low):
            axes.fill_between([at - 0.22, at + 0.22], low, high, color=colour, alpha=0.3, zorder=2)
        axes.plot([at - 0.22, at + 0.22], [mean, mean], color=colour, linewidth=2, zorder=3)
        axes.plot([at], [mean], marker=marker, color=colour, markersize=8, zorder=4)
    axes.set_xticks(places, [name_of(policy) for policy in measured.policies])
    axes.set_xlim(-0.5, len(places) - 0.5)
