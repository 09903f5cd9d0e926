"""The drawing as PNG or PDF.

CairoSVG converts the SVG drawing: one small package gives both formats, with text that stays text
in a PDF, and it draws the fonts of the system. It needs the system's Cairo library.
"""

import re
from typing import Any

from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.show.svg import as_svg

SCALE = 2.0
"""Pixels of a PNG for each unit of the drawing."""
MOST_PIXELS = 60_000_000
MOST_SIDE = 32_000


def as_png(tree: CrispTree, *, decimals: int | None = None, states: NDArray | None = None) -> bytes:
    """The drawing on white; a large one has fewer pixels for each unit."""
    svg = as_svg(tree, decimals=decimals, states=states)
    width, height = _size(svg)
    scale = min(SCALE, MOST_SIDE / max(width, height), (MOST_PIXELS / (width * height)) ** 0.5)
    return _converted("svg2png", svg, scale=scale, background_color="white")


def as_pdf(tree: CrispTree, *, decimals: int | None = None, states: NDArray | None = None) -> bytes:
    """The drawing as a page of its own size."""
    return _converted("svg2pdf", as_svg(tree, decimals=decimals, states=states))


def _size(svg: str) -> tuple[float, float]:
    found = re.search(r'width="([\d.]+)" height="([\d.]+)"', svg)
    assert found is not None
    return float(found[1]), float(found[2])


def _converted(function: str, svg: str, **options: Any) -> bytes:
    try:
        import cairosvg
    except ImportError:
        raise CrisptreeError(
            "PNG and PDF need a package: pip install 'crisptree[pictures]'; --out tree.svg does not"
        ) from None
    except OSError:
        raise CrisptreeError(
            "PNG and PDF need the system's Cairo library (Debian: libcairo2); --out tree.svg "
            "does not"
        ) from None
    return getattr(cairosvg, function)(bytestring=svg.encode(), **options)
