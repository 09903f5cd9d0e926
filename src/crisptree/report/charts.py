"""Small drawings for the page: a histogram, lines over time, a stripe of actions."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crisptree.report.elements import text

WIDTH, LEFT, RIGHT = 720.0, 150.0, 8.0
ROW = 54.0
BINS = 32
MOST_POINTS = 700


def histogram(values: Sequence[float], shown: Sequence[str]) -> str:
    """A histogram of the values; `shown` are the words for the least and the greatest."""
    counts, _ = np.histogram(np.array(values), bins=BINS)
    height, top = 96.0, 14.0
    bar = (WIDTH - 2 * RIGHT) / BINS
    bars = "".join(
        f'<rect class="bar" x="{RIGHT + at * bar + 1:.1f}" y="{top + height * (1 - share):.1f}" '
        f'width="{bar - 2:.1f}" height="{max(height * share, 1.0):.1f}" rx="2">'
        f"<title>{count} episodes</title></rect>"
        for at, count in enumerate(counts.tolist())
        if count
        for share in [count / counts.max()]
    )
    floor = top + height
    axis = f'<line class="axis" x1="{RIGHT}" y1="{floor}" x2="{WIDTH - RIGHT}" y2="{floor}"/>'
    words = _text(RIGHT, floor + 16, shown[0]) + _text(WIDTH - RIGHT, floor + 16, shown[1], "end")
    return _svg(floor + 22, bars + axis + words, "How often which return was earned")


def lines(
    names: Sequence[str], values: NDArray, stripe: str = "", marks: Sequence[Sequence[float]] = ()
) -> str:
    """One row for each column of `values` `(steps, columns)`, under the stripe of actions.

    `marks` are values that deserve a line of their own in each row: the tree's thresholds.
    """
    top = 24.0 if stripe else 4.0
    body = stripe
    for at, name in enumerate(names):
        known = list(marks[at]) if marks else []
        body += _row(name, np.asarray(values[:, at], np.float64), known, top + at * ROW)
    bottom = top + len(names) * ROW
    body += _text(LEFT, bottom + 12, "step 0")
    body += _text(WIDTH - RIGHT, bottom + 12, f"step {len(values) - 1:,}", "end")
    return _svg(bottom + 18, body, "The numbers of an episode, step by step")


def stripe(colours: Sequence[str]) -> str:
    """The colour of each step's action, side by side."""
    width = (WIDTH - LEFT - RIGHT) / max(len(colours), 1)
    parts, begin = [], 0
    for at in range(1, len(colours) + 1):
        if at == len(colours) or colours[at] != colours[begin]:
            x, long = LEFT + begin * width, (at - begin) * width
            parts.append(
                f'<rect x="{x:.2f}" y="2" width="{long:.2f}" height="14" fill="{colours[begin]}"/>'
            )
            begin = at
    return _text(LEFT - 8, 13.0, "action", "end", "name") + "".join(parts)


def _row(name: str, values: NDArray[np.float64], marks: list[float], top: float) -> str:
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
    room = (high - low) * 0.05 or max(abs(high), 1.0) * 0.05
    low, high, inside = low - room, high + room, ROW - 12

    def y(value: float) -> float:
        return top + 4 + inside * (1 - (value - low) / (high - low))

    steps = np.unique(np.linspace(0, len(values) - 1, MOST_POINTS).astype(int))
    scale = (WIDTH - LEFT - RIGHT) / max(len(values) - 1, 1)
    points = " ".join(
        f"{LEFT + step * scale:.1f},{y(value):.1f}"
        for step in steps.tolist()
        for value in [float(values[step])]
        if np.isfinite(value)
    )
    dashes = "".join(
        f'<line class="mark" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(mark):.1f}" '
        f'y2="{y(mark):.1f}"/>'
        for mark in marks
        if low <= mark <= high
    )
    frame = (
        f'<rect class="frame" x="{LEFT}" y="{top + 2:.1f}" width="{WIDTH - LEFT - RIGHT}" '
        f'height="{inside + 4:.1f}"/>'
    )
    said = _text(LEFT - 8, top + 20, _short(name), "end", "name", name)
    said += _text(LEFT - 8, top + 34, f"{low + room:.4g} … {high - room:.4g}", "end")
    return f'{frame}{dashes}<polyline class="line" points="{points}"/>{said}'


def _short(name: str) -> str:
    return name if len(name) <= 22 else name[:21] + "…"


def _text(
    x: float, y: float, words: str, anchor: str = "start", kind: str = "small", title: str = ""
) -> str:
    words = text(words.replace("-", "−") if kind == "small" else words)
    told = f"<title>{text(title)}</title>" if title else ""
    return f'<text class="{kind}" x="{x}" y="{y:.1f}" text-anchor="{anchor}">{words}{told}</text>'


def _svg(height: float, body: str, label: str) -> str:
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH:g} {height:g}" role="img" '
        f'aria-label="{text(label)}">{body}</svg>'
    )
