"""One look for all figures of the lab: settings for matplotlib, and files that do not change."""

import io
from typing import Any

import matplotlib
from matplotlib.figure import Figure

# Okabe and Ito's palette, which people with any colour vision can tell apart.
BLUE, SKY, GREEN, YELLOW = "#0072B2", "#56B4E9", "#009E73", "#F0E442"
ORANGE, RED, PURPLE, GREY = "#E69F00", "#D55E00", "#CC79A7", "#666666"

STYLE: dict[Any, Any] = {
    "svg.hashsalt": "crisptree",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}


def figure_bytes(figure: Figure, file_format: str, style: dict[Any, Any] = STYLE) -> bytes:
    """The figure as an SVG or PNG file. The same figure gives the same bytes: the file holds no
    date, no version and no random ids."""
    metadata = {"Date": None} if file_format == "svg" else {"Software": None}
    buffer = io.BytesIO()
    with matplotlib.rc_context(style):
        figure.savefig(buffer, format=file_format, dpi=150, metadata=metadata)
    return buffer.getvalue()
