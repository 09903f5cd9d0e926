"""Training curves (the paper's Figs. 4 to 7), robustness over sizes (Appendix E), Pareto fronts."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from crisptree.lab.experiments.domain import Domain
from crisptree.lab.experiments.groups import TITLES, Group, best_of
from crisptree.lab.experiments.pareto import front_of, points_of, worth_it
from crisptree.lab.plot_style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    STYLE,
    figure_bytes,
)

RETURN = "return (reward an episode)"
CURVED = ("soft-tree", "soft-list", "mlp", "linear-rule", "crisp-tree", "crisp-list")
PANELS = {
    "leaves": ("soft-tree", "argmax-tree", "crisp-tree", "state-action-dt", "dagger-dt"),
    "rules": ("soft-list", "argmax-list", "crisp-list"),
    "hidden layers": ("mlp",),
}
POINTS = 100
GRID_STYLE: dict[Any, Any] = {**STYLE, "axes.grid": True, "grid.alpha": 0.25}


class RowStyle(NamedTuple):
    """How a row is drawn everywhere: by its colour and, without colours, by its mark and dash."""

    color: str
    mark: str
    dash: Any = "-"

    @property
    def line(self) -> dict[str, Any]:
        return {"color": self.color, "ls": self.dash, "lw": 1.6}

    @property
    def point(self) -> dict[str, Any]:
        return {"marker": self.mark, "color": self.color, "ls": ""}


ROW_STYLES = {
    "soft-tree": RowStyle(BLUE, "o"),
    "soft-list": RowStyle(GREEN, "s", (0, (5, 1))),
    "mlp": RowStyle(GREY, "P", (0, (1, 1))),
    "crisp-tree": RowStyle(RED, "^"),
    "crisp-list": RowStyle(ORANGE, "D", (0, (5, 1, 1, 1))),
    "argmax-tree": RowStyle(SKY, "v", (0, (3, 2))),
    "argmax-list": RowStyle("#7FCDB0", "<", (0, (3, 1, 1, 1, 1, 1))),
    "linear-rule": RowStyle("#AA8800", "h", (0, (1, 3))),
    "state-action-dt": RowStyle(PURPLE, "X", (0, (2, 1))),
    "dagger-dt": RowStyle("#882255", "*", (0, (6, 2))),
    "scripted": RowStyle("#000000", "", (0, (4, 2))),
    "random": RowStyle("#000000", "", (0, (1, 2))),
}


def draw(groups: Sequence[Group], domain: Domain) -> Iterator[tuple[str, bytes]]:
    """File name and content of every figure of one domain."""
    for what, make in (("curves", curves), ("robustness", robustness), ("pareto", pareto)):
        with matplotlib.rc_context(GRID_STYLE):
            figure = make(groups, domain)
        if figure is not None:
            for kind in ("svg", "png"):
                yield f"{domain.name}-{what}.{kind}", figure_bytes(figure, kind, GRID_STYLE)


def curves(groups: Sequence[Group], domain: Domain) -> Figure | None:
    """Return in training against steps: mean over seeds, and a band of one standard error."""
    best = [group for row in CURVED if (group := best_of(groups, domain.env, row)) is not None]
    best = [group for group in best if all(each.curve for each in group.seeds)]
    if not best:
        return None
    figure = Figure(figsize=(7, 3.8), layout="constrained")
    axes = figure.subplots()
    for group in best:
        steps, mean, error = banded(group)
        style, millions = ROW_STYLES[group.row], steps / 1e6
        band = {"color": style.color, "alpha": 0.18, "lw": 0}
        axes.fill_between(millions, mean - error, mean + error, **band)
        axes.plot(millions, mean, label=_labelled(group), **style.line)
    axes.set_xlabel("environment steps a seed (millions)")
    axes.set_ylabel(f"{RETURN}, in training")
    axes.set_xlim(left=0)
    axes.set_title(domain.title, loc="left", fontsize=10)
    figure.legend(loc="outside lower center", ncols=3)
    return figure


def banded(group: Group) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Steps, mean and standard error over seeds, on a grid that all seeds' curves cover."""
    every = [np.asarray(each.curve, float) for each in group.seeds]
    low, high = max(c[0, 0] for c in every), min(c[-1, 0] for c in every)
    steps = np.linspace(low, max(low, high), POINTS)
    values = np.stack([np.interp(steps, curve[:, 0], curve[:, 1]) for curve in every])
    if len(values) == 1:
        return steps, values[0], np.zeros(POINTS)
    return steps, values.mean(0), values.std(0, ddof=1) / np.sqrt(len(values))


def robustness(groups: Sequence[Group], domain: Domain) -> Figure | None:
    """Return against size, a panel a kind of size: mean and standard error over seeds."""
    shown = [g for g in groups if g.cell.env == domain.env]
    panels = {
        word: [row for row in rows if any(g.row == row for g in shown)]
        for word, rows in PANELS.items()
    }
    panels = {word: rows for word, rows in panels.items() if rows}
    if not panels:
        return None
    figure = Figure(figsize=(2 + 2.6 * len(panels), 3.9), layout="constrained")
    every = np.atleast_1d(figure.subplots(1, len(panels), sharey=True))
    drawn: list[str] = []
    for axes, (word, rows) in zip(every, panels.items(), strict=True):
        sizes = sorted({g.cell.size or 0 for g in shown if g.row in rows})
        for i, row in enumerate(rows):
            aside = 0.06 * (i - (len(rows) - 1) / 2)
            _over_sizes(axes, [g for g in shown if g.row == row], sizes, row, aside)
        drawn += [*rows, *_levels(axes, groups, domain)]
        axes.set_xticks(range(len(sizes)), [str(size) for size in sizes])
        axes.set_xlim(-0.4, len(sizes) - 0.6)
        axes.set_xlabel(word)
    every[0].set_ylabel(RETURN)
    figure.suptitle(domain.title, x=0.02, ha="left", fontsize=10)
    handles = [_handle(row) for row in TITLES if row in drawn]
    figure.legend(handles=handles, loc="outside lower center", ncols=1 + len(panels))
    return figure


def _over_sizes(
    axes: Axes, groups: Sequence[Group], sizes: Sequence[int], row: str, aside: float
) -> None:
    """The best learning rate of each size; rows are shifted a little, so that their bars do not
    overlap."""
    best = {}
    for group in groups:
        size = group.cell.size or 0
        if size not in best or group.selection > best[size].selection:
            best[size] = group
    at = np.array([sizes.index(size) for size in sorted(best)]) + aside
    scores = [best[size].score for size in sorted(best)]
    axes.errorbar(
        at,
        [score.mean for score in scores],
        yerr=[score.error or 0.0 for score in scores],
        marker=ROW_STYLES[row].mark,
        ms=5,
        capsize=2,
        **ROW_STYLES[row].line,
    )


def _levels(axes: Axes, groups: Sequence[Group], domain: Domain) -> list[str]:
    """Policies without a size, as lines across."""
    found = []
    for row in ("scripted", "random"):
        group = best_of(groups, domain.env, row)
        if group is not None:
            axes.axhline(group.score.mean, **{**ROW_STYLES[row].line, "lw": 1.0})
            found.append(row)
    return found


def pareto(groups: Sequence[Group], domain: Domain) -> Figure | None:
    """Return against leaves of crisp policies: seeds faint, means strong, the front as steps."""
    points = points_of(groups, domain.env)
    if not points:
        return None
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    front = front_of(points)
    last = max(p.leaves for p in points)
    line = [*((p.leaves, p.score) for p in front), (last, front[-1].score)]
    axes.step(*zip(*line, strict=True), where="post", color="#999999", lw=5, alpha=0.4, zorder=0)
    rows = [row for row in TITLES if any(p.group.row == row for p in points)]
    for row in rows:
        mark = ROW_STYLES[row].point
        for point in (p for p in points if p.group.row == row):
            axes.plot(point.group.leaves, point.group.scores, ms=3, alpha=0.35, **mark)
            axes.errorbar(
                point.leaves,
                point.score,
                yerr=point.error or 0.0,
                ms=7,
                capsize=2,
                mec="white",
                **mark,
            )
    worth = worth_it(points)
    assert worth is not None
    ring = {"marker": "o", "ms": 15, "mfc": "none", "mec": "black", "ls": ""}
    axes.plot(worth.leaves, worth.score, **ring)
    axes.set_xscale("log", base=2)
    ticks = [2**i for i in range(int(np.log2(last)) + 2) if 2**i <= last * 1.2]
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.set_xlim(min(p.group.leaves.min() for p in points) / 1.15, None)
    axes.set_xlabel("leaves of the policy (a list of n rules has n + 1)")
    axes.set_ylabel(RETURN)
    axes.set_title(domain.title, loc="left", fontsize=10)
    handles = [
        *(Line2D([], [], label=TITLES[row], **ROW_STYLES[row].point) for row in rows),
        Line2D([], [], color="#999999", lw=5, alpha=0.4, label="Pareto front"),
        Line2D([], [], **{**ring, "ms": 9}, label="smallest within a standard error"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure


def _handle(row: str) -> Line2D:
    style = ROW_STYLES[row]
    return Line2D([], [], marker=style.mark or None, ms=5, label=TITLES[row], **style.line)


def _labelled(group: Group) -> str:
    size = "" if group.cell.size is None else f" ({group.cell.size})"
    return TITLES[group.row] + size
