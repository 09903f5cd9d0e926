"""Colours: which action has which, how a number is coloured, what can be read on it."""

from collections.abc import Sequence
from typing import NamedTuple

WHITE, BLACK, GREY = "#ffffff", "#1a1a1a", "#767676"

# The first seven are Okabe and Ito's, which people with any kind of colour vision tell apart. The
# other five were searched for: with all twelve, any two differ by at least 10 (CIEDE2000) for
# people with and without colour vision deficiency, and by at least 20 for the others.
ACTION_COLOURS = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#F0E442",
    "#1111CC",
    "#880000",
    "#BBCCBB",
    "#774466",
    "#556655",
)
BORDERS = ("", "6 3", "2 3")
"""Dashes of a box's border, for the first, second and third time that the colours are used."""

LOW_COLOURS = ("#f4f4f1", "#8fbfe0", "#0b5394")
"""From zero down to the least value."""
HIGH_COLOURS = ("#f4f4f1", "#f2b27a", "#b34700")
"""From zero, or the least value, up to the greatest."""


class Style(NamedTuple):
    """How the box of an action is painted."""

    fill: str
    text: str
    border: str = ""
    """Dashes, as SVG writes them; nothing for a plain line."""


NEUTRAL = Style(WHITE, BLACK)


def style_of(place: int) -> Style:
    """The style of the action at this place; 36 places have a style of their own."""
    fill = ACTION_COLOURS[place % len(ACTION_COLOURS)]
    border = BORDERS[place // len(ACTION_COLOURS) % len(BORDERS)]
    return Style(fill, readable_on(fill), border)


class ValueScale:
    """Colours for the numbers between two bounds: pale is zero, or the end nearest to zero."""

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high

    def colour(self, value: float) -> str:
        """The colour of a number; beyond a bound it is the bound's."""
        if self.low >= 0:
            return _between(HIGH_COLOURS, _share(value, self.low, self.high))
        if self.high <= 0:
            return _between(LOW_COLOURS, _share(-value, -self.high, -self.low))
        if value >= 0:
            return _between(HIGH_COLOURS, _share(value, 0.0, self.high))
        return _between(LOW_COLOURS, _share(-value, 0.0, -self.low))

    def sampled(self, count: int = 33) -> tuple[str, ...]:
        """Colours at even distances from the least to the greatest value."""
        last = count - 1
        return tuple(
            self.colour(self.low * ((last - at) / last) + self.high * (at / last))
            for at in range(count)
        )

    def style(self, value: float) -> Style:
        """The style of a box that holds this number."""
        fill = self.colour(value)
        return Style(fill, readable_on(fill))


def readable_on(colour: str) -> str:
    """The black or white that reads better on `colour` (the contrast ratio of WCAG 2)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in _rgb(colour)]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return WHITE if 1.05 / (luminance + 0.05) >= (luminance + 0.05) / 0.05 else BLACK


def _share(value: float, low: float, high: float) -> float:
    """Where `value` lies between `low` (0) and `high` (1); halved first, so that huge bounds do not
    overflow."""
    width = high / 2 - low / 2
    return min(max((value / 2 - low / 2) / width, 0.0), 1.0) if width > 0 else 0.0


def _between(stops: Sequence[str], share: float) -> str:
    """The colour at `share` of the way along evenly spaced colours."""
    at = min(int(share * (len(stops) - 1)), len(stops) - 2)
    part = share * (len(stops) - 1) - at
    mixed = (a + (b - a) * part for a, b in zip(_rgb(stops[at]), _rgb(stops[at + 1]), strict=True))
    return "#" + "".join(f"{round(channel * 255):02x}" for channel in mixed)


def _rgb(colour: str) -> list[float]:
    return [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
