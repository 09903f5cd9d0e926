"""Colours, line styles and deterministic bytes for the figures. The only file that saves one."""

import io
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from crisptree.lab.analysis.curves import Curve
from crisptree.lab.analysis.setting import Setting

# Okabe and Ito's palette: told apart with any colour vision; the dashes do it without colour.
COLOURS = {
    "policy gradient": "#D55E00",
    "paper": "#0072B2",
    "terminal-update": "#56B4E9",
    "bootstrap-and-update": "#CC79A7",
    "standard": "#009E73",
}
DASHES = {
    "policy gradient": "-",
    "paper": "-",
    "terminal-update": (0, (4, 1.5)),
    "bootstrap-and-update": (0, (1, 1)),
    "standard": (0, (5, 1, 1, 1)),
}
BAND = "#F0E442"
GREY = "#666666"
START_DASHES = ("-", (0, (4, 2)), (0, (1, 1.5)), (0, (5, 1, 1, 1)))
SETTINGS: dict[Any, Any] = {
    "svg.hashsalt": "crisptree",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}


def key(curve: Curve) -> str:
    return "policy gradient" if curve.terminal is None else curve.terminal.name


def label(name: str) -> str:
    return name if name == "policy gradient" else f"Q-learning, {name}"


def window(setting: Setting) -> tuple[float, float]:
    """0 … n+1 on a short chain, else ten states to either side of φ*."""
    reach = 10
    best = setting.optimal_phi
    return max(0.0, best - reach), min(setting.n + 1.0, best + reach)


def mark_optimal(axes: Axes, setting: Setting) -> None:
    axes.axvspan(setting.istar, setting.istar + 1, color=BAND, alpha=0.35, lw=0, zorder=0)


def name_phi(axes: Axes, setting: Setting) -> None:
    axes.set_xlim(*window(setting))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("threshold φ")


def lay_out(figure: Figure) -> None:
    """Place everything once, for all the formats the figure is saved in."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")


def saved(figure: Figure, kind: str) -> bytes:
    """The same figure always gives the same bytes: no date, no version, no random ids."""
    metadata = {"Date": None} if kind == "svg" else {"Software": None}
    buffer = io.BytesIO()
    with matplotlib.rc_context(SETTINGS):
        figure.savefig(buffer, format=kind, dpi=150, metadata=metadata)
    return buffer.getvalue()
