"""The few shapes the drawings are made of, as SVG text.

Nothing is painted behind the drawing. Lines and loose words are of a grey that stands out as well
from white as from black; boxes bring their own background.
"""

import math
import unicodedata
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from crisptree.show.palette import GREY, Style

FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"
SIZE = 13.0
SMALL = 11.0
LARGE = 16.0
MARGIN = 12.0
ARROW_HEAD = 4.0
LINE_WIDTH = 1.25
CENTRING = 0.36  # from the middle of the letters down to their baseline, in ems
BOLD = ' font-weight="bold"'


class Rectangle(NamedTuple):
    """Where a box lies."""

    x: float
    y: float
    width: float
    height: float


class TextLine(NamedTuple):
    """A line of text on a box; `anchor` says whether x is its start, middle or end."""

    x: float
    y: float
    text: str
    anchor: str = "middle"
    bold: bool = False


class Canvas:
    """Collects shapes and knows how far they reach."""

    def __init__(self) -> None:
        self._shapes: list[str] = []
        self.left = self.top = math.inf
        self.right = self.bottom = -math.inf

    def box(
        self,
        at: Rectangle,
        style: Style,
        lines: Sequence[TextLine] = (),
        *,
        radius: float,
        tooltip: str = "",
        swatches: Sequence[tuple[Rectangle, str]] = (),
    ) -> None:
        """A filled box with lines of text, small coloured squares and a tooltip."""
        dashes = f' stroke-width="2" stroke-dasharray="{style.border}"' if style.border else ""
        parts = [f"<title>{xml(tooltip)}</title>"] if tooltip else []
        border = style.text if style.border else GREY
        parts.append(
            f'<rect {_place(at)} rx="{number(radius)}" fill="{style.fill}" '
            f'stroke="{border}"{dashes}/>'
        )
        parts += [
            f'<rect {_place(where)} fill="{fill}" stroke="{GREY}" stroke-width="0.75"/>'
            for where, fill in swatches
        ]
        parts += [
            f'<text x="{number(line.x)}" y="{number(line.y + SIZE * CENTRING)}" '
            f'fill="{style.text}" text-anchor="{line.anchor}"{BOLD if line.bold else ""}>'
            f"{xml(line.text)}</text>"
            for line in lines
        ]
        self._shapes.append(f"<g>{''.join(parts)}</g>")
        self._reach(at)

    def gradient(self, at: Rectangle, colours: Sequence[str]) -> None:
        """A bar of stripes from left to right."""
        step = at.width / len(colours)
        # A little wider, so that no gap shows between two stripes.
        stripes = [
            Rectangle(at.x + place * step, at.y, step + 0.3, at.height)
            for place in range(len(colours))
        ]
        self._shapes += [
            f'<rect {_place(stripe)} fill="{colour}"/>'
            for stripe, colour in zip(stripes, colours, strict=True)
        ]
        self._reach(at)

    def curve(self, *points: tuple[float, float], width: float = LINE_WIDTH) -> None:
        """A cubic Bézier curve over its four points."""
        start, *rest = (f"{number(x)},{number(y)}" for x, y in points)
        self._path(f"M{start}C{' '.join(rest)}", width)

    def line(self, x0: float, y0: float, x1: float, y1: float, width: float = LINE_WIDTH) -> None:
        """A straight line."""
        self._path(f"M{number(x0)},{number(y0)}L{number(x1)},{number(y1)}", width)

    def arrow(self, x0: float, y0: float, x1: float, y1: float, width: float = LINE_WIDTH) -> None:
        """A straight line, level or upright, with a head."""
        length = abs(x1 - x0) + abs(y1 - y0)
        dx, dy = (x1 - x0) / length * ARROW_HEAD, (y1 - y0) / length * ARROW_HEAD
        self.line(x0, y0, x1, y1, width)
        self._path(
            f"M{number(x1 - dx - dy)},{number(y1 - dy - dx)}L{number(x1)},{number(y1)}"
            f"L{number(x1 - dx + dy)},{number(y1 - dy + dx)}",
            LINE_WIDTH,
        )

    def label(
        self, x: float, y: float, text: str, anchor: str = "start", size: float = SMALL
    ) -> None:
        """Loose text, centred on the height y; large text is bold."""
        bold = size == LARGE
        self._shapes.append(
            f'<text x="{number(x)}" y="{number(y + size * CENTRING)}" font-size="{size:g}" '
            f'fill="{GREY}" text-anchor="{anchor}"{BOLD if bold else ""}>{xml(text)}</text>'
        )
        width = text_width(text, size, bold)
        left = x - width * {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor]
        self._reach(Rectangle(left, y - size / 2, width, size))

    def to_svg(self, title: str) -> str:
        """The whole picture, as wide and high as its boxes and labels need."""
        left, top = self.left - MARGIN, self.top - MARGIN
        width, height = self.right + MARGIN - left, self.bottom + MARGIN - top
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

    def _path(self, d: str, width: float) -> None:
        self._shapes.append(
            f'<path d="{d}" fill="none" stroke="{GREY}" stroke-width="{number(width, 2)}"/>'
        )

    def _reach(self, at: Rectangle) -> None:
        self.left, self.top = min(self.left, at.x), min(self.top, at.y)
        self.right = max(self.right, at.x + at.width)
        self.bottom = max(self.bottom, at.y + at.height)


def text_width(text: str, size: float, bold: bool = False) -> float:
    """About how wide `text` is, in a wide face such as DejaVu Sans; Helvetica needs less."""
    return sum(map(_ems, text)) * size * (1.12 if bold else 1.0)


def _ems(char: str) -> float:
    if unicodedata.east_asian_width(char) in "WF":
        return 1.0
    if char in "ijlI|!.,:;' ·":
        return 0.33
    if char in "ftr()[]-/":
        return 0.4
    if char in "mwMW@%…+=<>≤≥−":
        return 0.86
    return 0.73 if char.isupper() else 0.62


def xml(text: str) -> str:
    """Text that XML and HTML show as it is."""
    return escape(text, quote=True)


def number(value: float, decimals: int = 1) -> str:
    """A coordinate to a tenth of a pixel, or to so many decimals."""
    return f"{round(value, decimals) + 0.0:.10g}"


def _place(at: Rectangle) -> str:
    names = ("x", "y", "width", "height")
    return " ".join(f'{name}="{number(value)}"' for name, value in zip(names, at, strict=True))
