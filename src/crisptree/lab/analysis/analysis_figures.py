"""The figures: updates, policy value, optimality, wrong action, learning."""

from collections.abc import Callable, Iterator

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from crisptree.lab.analysis.appendices import wrong_action
from crisptree.lab.analysis.chain_analysis import Analysis
from crisptree.lab.analysis.chain_setting import Setting
from crisptree.lab.analysis.chain_tree import moves_right
from crisptree.lab.analysis.critical_points import WIDTH
from crisptree.lab.analysis.update_curves import Curve, normalised
from crisptree.lab.plot_style import (
    BLUE,
    GREEN,
    GREY,
    PURPLE,
    RED,
    SKY,
    STYLE,
    YELLOW,
    figure_bytes,
)

# Lines differ in their dashes too, so that nobody needs the colours.
COLOURS = {
    "policy gradient": RED,
    "paper": BLUE,
    "terminal-update": SKY,
    "bootstrap-and-update": PURPLE,
    "standard": GREEN,
}
DASHES = {
    "policy gradient": "-",
    "paper": "-",
    "terminal-update": (0, (4, 1.5)),
    "bootstrap-and-update": (0, (1, 1)),
    "standard": (0, (5, 1, 1, 1)),
}
START_DASHES = ("-", (0, (4, 2)), (0, (1, 1.5)), (0, (5, 1, 1, 1)))


def draw(analysis: Analysis) -> Iterator[tuple[str, bytes]]:
    """File name and content of every figure."""
    figures: dict[str, Callable[[Analysis], Figure]] = {
        "updates": updates,
        "policy-value": policy_value,
        "optimality": optimality,
        "wrong-action": wrong_actions,
        "learning": learning,
    }
    for name, make in figures.items():
        with matplotlib.rc_context(STYLE):
            figure = make(analysis)
            figure.draw_without_rendering()  # one layout for all the formats it is saved in
            figure.set_layout_engine("none")
        for kind in ("svg", "png"):
            yield f"{name}.{kind}", figure_bytes(figure, kind)


def updates(analysis: Analysis) -> Figure:
    """Δφ against φ, a panel for each method, a line for each start; the zeros are marked."""
    figure = Figure(figsize=(7, 9), layout="constrained")
    panels = figure.subplots(5, 1, sharex=True)
    low, high = window(analysis.setting)
    for axes, (name, curves) in zip(panels, _by_method(analysis), strict=True):
        mark_optimal(axes, analysis.setting)
        axes.axhline(0, color=GREY, lw=0.6)
        for curve, dashes in zip(curves, _start_dashes(analysis), strict=True):
            axes.plot(*_gaps_at_integers(curve), color=COLOURS[name], ls=dashes, lw=1.4)
        zeros = [z for curve in curves for z in curve.zeros if low <= z.phi <= high]
        for kind, attracts in sorted({(z.kind, z.attracts) for z in zeros}):
            places = [z.phi for z in zeros if (z.kind, z.attracts) == (kind, attracts)]
            marker = "D" if kind == "jump" else "o"
            fill = COLOURS[name] if attracts else "white"
            style = {"ms": 5, "mfc": fill, "mec": COLOURS[name], "clip_on": False}
            axes.plot(places, np.zeros(len(places)), marker, **style)
        axes.set_title(method_label(name), loc="left", fontsize=9)
        axes.set_ylabel("update Δφ")
    label_phi(panels[-1], analysis.setting)
    handles = [
        *_start_handles(analysis),
        Line2D([], [], marker="o", ls="", mfc=GREY, mec=GREY, label="zero that attracts"),
        Line2D([], [], marker="o", ls="", mfc="white", mec=GREY, label="zero that repels"),
        Line2D([], [], marker="D", ls="", mfc="none", mec=GREY, label="jump of sign"),
        _band_handle(),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure


def policy_value(analysis: Analysis) -> Figure:
    """V of the soft, sampled tree and of the crisp tree, from each start."""
    figure = Figure(figsize=(7, 3.6), layout="constrained")
    axes = figure.subplots()
    mark_optimal(axes, analysis.setting)
    crisp = [c for c in analysis.q_learning if method_key(c) == "standard"]
    dashes = _start_dashes(analysis)
    for curves, colour, name in (
        (analysis.policy_gradient, COLOURS["policy gradient"], "soft tree, actions sampled"),
        (crisp, COLOURS["paper"], "crisp tree"),
    ):
        for curve, dash in zip(curves, dashes, strict=True):
            text = f"{name}, start {curve.start}"
            axes.plot(curve.phi, curve.value, color=colour, ls=dash, lw=1.5, label=text)
    axes.set_ylabel("value of the policy, V")
    label_phi(axes, analysis.setting)
    handles, _ = axes.get_legend_handles_labels()
    figure.legend(handles=[*handles, _band_handle()], loc="outside lower center", ncols=2)
    return figure


def optimality(analysis: Analysis) -> Figure:
    """The integrated update of each method beside the soft policy's value, all in [0, 1]."""
    figure = Figure(figsize=(7, 3.2 * len(analysis.starts) + 0.6), layout="constrained")
    panels = np.atleast_1d(figure.subplots(len(analysis.starts), 1, sharex=True))
    for axes, start, soft in zip(panels, analysis.starts, analysis.policy_gradient, strict=True):
        mark_optimal(axes, analysis.setting)
        value = normalised(soft.value[soft.shown])
        axes.plot(soft.phi[soft.shown], value, color=GREY, lw=4, alpha=0.35)
        for curve in analysis.curves:
            if curve.start == start:
                name = method_key(curve)
                style = {"color": COLOURS[name], "ls": DASHES[name], "lw": 1.5}
                axes.plot(curve.phi[curve.shown], curve.optimality, **style)
        axes.set_title(f"start {start}", loc="left", fontsize=9)
        axes.set_ylabel("optimality, 0 to 1")
    label_phi(panels[-1], analysis.setting)
    handles = [
        *(Line2D([], [], color=COLOURS[n], ls=DASHES[n], label=method_label(n)) for n in COLOURS),
        Line2D([], [], color=GREY, lw=4, alpha=0.35, label="value of the soft policy"),
        _band_handle(),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    return figure


def wrong_actions(analysis: Analysis) -> Figure:
    """Appendix D: the chance of a wrong action in i*, in i*+1, and their mean."""
    setting = analysis.setting
    figure = Figure(figsize=(7, 3.4), layout="constrained")
    axes = figure.subplots()
    mark_optimal(axes, setting)
    phi = np.linspace(*window(setting), 2001)
    right = moves_right(setting, phi)
    i = setting.istar
    left_text, right_text = f"a2 in state {i}", f"a1 in state {i + 1}"
    axes.plot(phi, 1 - right[i - 1], color=COLOURS["paper"], ls="--", lw=1.2, label=left_text)
    axes.plot(phi, right[i], color=COLOURS["standard"], ls=":", lw=1.6, label=right_text)
    axes.plot(phi, wrong_action(setting, phi), color=COLOURS["policy gradient"], label="mean")
    place, chance = analysis.least_wrong
    text = f"least, {chance:.3f} at φ = {place:.3f}"
    axes.plot(place, chance, "o", color=COLOURS["policy gradient"], clip_on=False, label=text)
    axes.set_ylabel("probability of a wrong action")
    axes.set_ylim(0, 1)
    label_phi(axes, setting)
    handles, _ = axes.get_legend_handles_labels()
    figure.legend(handles=[*handles, _band_handle()], loc="outside lower center", ncols=3)
    return figure


def learning(analysis: Analysis) -> Figure:
    """Where φ ends against where it began, a panel for each method."""
    setting = analysis.setting
    figure = Figure(figsize=(7, 5.4), layout="constrained")
    panels = figure.subplots(2, 3, sharex=True, sharey=True).ravel()
    low, high = window(setting)
    ends = dict(zip(map(id, analysis.curves), analysis.learning, strict=True))
    markers = ("o", "x", "+", "^")
    for axes, (name, curves) in zip(panels, _by_method(analysis), strict=False):
        axes.axhspan(setting.istar, setting.istar + 1, color=YELLOW, alpha=0.35, lw=0, zorder=0)
        axes.plot([low, high], [low, high], color=GREY, lw=0.6)
        for curve, marker in zip(curves, _cycled(markers, curves), strict=True):
            found = ends[id(curve)]
            fill = "none" if marker in "o^" else None
            axes.plot(
                found.first, found.last, marker, ms=4, color=COLOURS[name], mfc=fill, clip_on=True
            )
        axes.set_title(method_label(name), loc="left", fontsize=8)
        axes.set_ylim(low, high)
        axes.set_xlim(low, high)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    for axes in panels[::3]:
        axes.set_ylabel("φ after learning")
    for axes in panels[:5]:
        axes.set_xlabel("φ before learning")
        axes.xaxis.set_tick_params(labelbottom=True)
    panels[5].set_axis_off()
    handles = [
        *(
            Line2D([], [], marker=m, ls="", color=GREY, mfc="none", label=f"start {start}")
            for start, m in zip(analysis.starts, _cycled(markers, analysis.starts), strict=True)
        ),
        Line2D([], [], color=GREY, lw=0.6, label="φ has not moved"),
        _band_handle(),
    ]
    panels[5].legend(handles=handles, loc="center")
    return figure


def _by_method(analysis: Analysis) -> list[tuple[str, list[Curve]]]:
    return [(name, [c for c in analysis.curves if method_key(c) == name]) for name in COLOURS]


def _cycled(styles: tuple, over) -> list:
    return [styles[i % len(styles)] for i in range(len(over))]


def _start_dashes(analysis: Analysis) -> list:
    return _cycled(START_DASHES, analysis.starts)


def _start_handles(analysis: Analysis) -> list[Line2D]:
    return [
        Line2D([], [], color=GREY, ls=dashes, label=f"start {start}")
        for start, dashes in zip(analysis.starts, _start_dashes(analysis), strict=True)
    ]


def _band_handle() -> Patch:
    return Patch(color=YELLOW, alpha=0.35, lw=0, label="the crisp tree is optimal")


def _gaps_at_integers(curve: Curve) -> tuple[np.ndarray, np.ndarray]:
    """φ and Δφ with gaps at each integer, so that a jump is not drawn as a line."""
    low, high = window(curve.setting)
    seen = (curve.phi >= low) & (curve.phi <= high)
    phi, total = curve.phi[seen], curve.total[seen]
    walls = np.flatnonzero(np.diff(phi) < WIDTH) + 1
    return np.insert(phi, walls, np.nan), np.insert(total, walls, np.nan)


def method_key(curve: Curve) -> str:
    return "policy gradient" if curve.terminal is None else curve.terminal.name


def method_label(key: str) -> str:
    return key if key == "policy gradient" else f"Q-learning, {key}"


def window(setting: Setting) -> tuple[float, float]:
    """The range of φ shown: 0 … n+1 on a short chain, else ten states to either side of φ*."""
    reach, best = 10, setting.optimal_phi
    return max(0.0, best - reach), min(setting.n + 1.0, best + reach)


def mark_optimal(axes: Axes, setting: Setting) -> None:
    axes.axvspan(setting.istar, setting.istar + 1, color=YELLOW, alpha=0.35, lw=0, zorder=0)


def label_phi(axes: Axes, setting: Setting) -> None:
    axes.set_xlim(*window(setting))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("threshold φ")
