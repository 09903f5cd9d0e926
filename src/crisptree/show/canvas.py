"""The few shapes the drawings are made of, as SVG text.

Nothing is painted behind the drawing. Lines and loose words are of a grey that stands out as well
from white as from black; boxes bring their own background.
"""

import math
import unicodedata
from html import escape
from typing import NamedTuple

GREY = "#767676"
PAPER, INK = "#ffffff", "#1a1a1a"
FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"
SIZE = 13.0
SMALL = 11.0
MARGIN = 12.0
HEAD = 4.0
CENTRING = 0.36  # from the middle of the letters down to their baseline, in ems
BOLD = ' font-weight="bold"'

# Okabe and Ito's colours, which people with any kind of colour vision tell apart; their black
# would vanish on a dark page, so a grey stands in for it.
COLOURS = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#F0E442",
    "#999999",
)


class Text(NamedTuple):
    """Words on a card; `anchor` says whether x is their start, middle or end."""

    x: float
    y: float
    words: str
    anchor: str = "middle"
    bold: bool = False


class Canvas:
    """Collects shapes and knows how far they reach."""

    def __init__(self) -> None:
        self._shapes: list[str] = []
        self._left = self._top = math.inf
        self._right = self._bottom = -math.inf

    def card(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        radius: float,
        fill: str,
        texts: list[Text],
        tooltip: str,
    ) -> None:
        """A filled box with words on it and a tooltip."""
        ink = ink_on(fill)
        words = "".join(
            f'<text x="{number(text.x)}" y="{number(text.y + SIZE * CENTRING)}" fill="{ink}" '
            f'text-anchor="{text.anchor}"{BOLD if text.bold else ""}>{xml(text.words)}</text>'
            for text in texts
        )
        self._shapes.append(
            f"<g><title>{xml(tooltip)}</title>"
            f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" '
            f'height="{number(height)}" rx="{number(radius)}" fill="{fill}" stroke="{GREY}"/>'
            f"{words}</g>"
        )
        self._reach(x, y, x + width, y + height)

    def curve(self, *points: tuple[float, float]) -> None:
        """A cubic Bézier curve over its four points."""
        start, *rest = (f"{number(x)},{number(y)}" for x, y in points)
        self._path(f"M{start}C{' '.join(rest)}")

    def arrow(self, x0: float, y0: float, x1: float, y1: float) -> None:
        """A straight line, level or upright, with a head."""
        length = abs(x1 - x0) + abs(y1 - y0)
        dx, dy = (x1 - x0) / length * HEAD, (y1 - y0) / length * HEAD
        line = f"M{number(x0)},{number(y0)}L{number(x1)},{number(y1)}"
        head = (
            f"M{number(x1 - dx - dy)},{number(y1 - dy - dx)}L{number(x1)},{number(y1)}"
            f"L{number(x1 - dx + dy)},{number(y1 - dy + dx)}"
        )
        self._path(line + head)

    def label(self, x: float, y: float, words: str, anchor: str) -> None:
        """A loose small word, centred on the height y."""
        self._shapes.append(
            f'<text x="{number(x)}" y="{number(y + SMALL * CENTRING)}" font-size="{SMALL:g}" '
            f'fill="{GREY}" text-anchor="{anchor}">{xml(words)}</text>'
        )
        width = text_width(words, SMALL)
        left = x - width * {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor]
        self._reach(left, y - SMALL / 2, left + width, y + SMALL / 2)

    def drawn(self, title: str) -> str:
        """The whole picture, as wide and high as its cards and labels need."""
        left, top = self._left - MARGIN, self._top - MARGIN
        width, height = self._right + MARGIN - left, self._bottom + MARGIN - top
        view = " ".join(map(number, (left, top, width, height)))
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{view}" '
                f'width="{number(width)}" height="{number(height)}" role="img" '
                f'font-family="{FONT}" font-size="{SIZE:g}">',
                f"<title>{xml(title)}</title>",
                *self._shapes,
                "</svg>\n",
            ]
        )

    def _path(self, d: str) -> None:
        self._shapes.append(f'<path d="{d}" fill="none" stroke="{GREY}" stroke-width="1.25"/>')

    def _reach(self, left: float, top: float, right: float, bottom: float) -> None:
        self._left, self._top = min(self._left, left), min(self._top, top)
        self._right, self._bottom = max(self._right, right), max(self._bottom, bottom)


def text_width(text: str, size: float, bold: bool = False) -> float:
    """About how wide `text` is in a face like Helvetica, on the wide side."""
    return sum(map(_ems, text)) * size * (1.08 if bold else 1.0)


def _ems(char: str) -> float:
    if unicodedata.east_asian_width(char) in "WF":
        return 1.0
    if char in "ijl|!.,:;'I ":
        return 0.29
    if char in "ftr()[]-/":
        return 0.36
    if char in "mwMW@%…":
        return 0.89
    return 0.7 if char.isupper() else 0.57


def colour_of(action: int) -> str:
    """An action's colour; they come round again after eight, which is why names stand beside."""
    return COLOURS[action % len(COLOURS)]


def ink_on(colour: str) -> str:
    """The black or white that reads better on `colour` (the contrast ratio of WCAG 2)."""
    channels = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return PAPER if 1.05 / (luminance + 0.05) >= (luminance + 0.05) / 0.05 else INK


def xml(text: str) -> str:
    return escape(text, quote=True)


def number(value: float) -> str:
    """A coordinate to a tenth of a pixel."""
    return f"{round(value, 1) + 0.0:.10g}"
