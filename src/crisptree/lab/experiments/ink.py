"""Colours and marks of the figures: a row looks alike wherever it is drawn."""

from typing import Any

from crisptree.lab.plot_style import STYLE

# Okabe and Ito's palette: told apart with any colour vision; marks and dashes do it without colour.
COLOURS = {
    "soft-tree": "#0072B2",
    "soft-list": "#009E73",
    "mlp": "#666666",
    "crisp-tree": "#D55E00",
    "crisp-list": "#E69F00",
    "argmax-tree": "#56B4E9",
    "argmax-list": "#7FCDB0",
    "state-action-dt": "#CC79A7",
    "dagger-dt": "#882255",
    "scripted": "#000000",
    "random": "#000000",
}
MARKS = {
    "soft-tree": "o",
    "soft-list": "s",
    "mlp": "P",
    "crisp-tree": "^",
    "crisp-list": "D",
    "argmax-tree": "v",
    "argmax-list": "<",
    "state-action-dt": "X",
    "dagger-dt": "*",
    "scripted": "",
    "random": "",
}
DASHES: dict[str, Any] = {
    "soft-list": (0, (5, 1)),
    "mlp": (0, (1, 1)),
    "crisp-list": (0, (5, 1, 1, 1)),
    "argmax-tree": (0, (3, 2)),
    "argmax-list": (0, (3, 1, 1, 1, 1, 1)),
    "state-action-dt": (0, (2, 1)),
    "dagger-dt": (0, (6, 2)),
    "scripted": (0, (4, 2)),
    "random": (0, (1, 2)),
}
SETTINGS: dict[Any, Any] = {**STYLE, "axes.grid": True, "grid.alpha": 0.25}


def style(row: str) -> dict[str, Any]:
    return {"color": COLOURS[row], "ls": DASHES.get(row, "-"), "lw": 1.6}
