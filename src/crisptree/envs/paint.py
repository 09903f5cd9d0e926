"""A small drawing surface on pygame, in world units with y up, smoothed by drawing at twice size.

pygame is loaded when the first picture is made, and no window is opened.
"""

import os
from functools import cache

import numpy as np

Colour = tuple[int, int, int] | tuple[int, int, int, int]
Number = float | int
Point = tuple[Number, Number]
SHARPNESS = 2
HEADER = 34


def _pygame():
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    import pygame

    pygame.font.init()  # Again for each picture: another environment's close() ends it for all.
    return pygame


class Painting:
    """A picture of a world rectangle, with a line of text above it."""

    def __init__(
        self, lower: Point, upper: Point, pixels_per_unit: Number, background: Colour
    ) -> None:
        self._pygame = _pygame()
        self._lower, self._upper = lower, upper
        self._unit = pixels_per_unit * SHARPNESS
        width = round((upper[0] - lower[0]) * self._unit)
        height = round((upper[1] - lower[1]) * self._unit) + HEADER * SHARPNESS
        self._surface = self._pygame.Surface((width, height), depth=32)
        self._surface.fill(background)
        self._font = cache(lambda size: self._pygame.font.Font(None, size))

    def _at(self, point: Point) -> Point:
        x = (float(point[0]) - self._lower[0]) * self._unit
        y = (self._upper[1] - float(point[1])) * self._unit + HEADER * SHARPNESS
        return x, y

    def discs(self, centres: list[Point], radius: Number, colour: Colour) -> None:
        """Discs of one colour; where it is see-through, overlaps are no darker than one disc."""
        layer = self._pygame.Surface(self._surface.get_size(), self._pygame.SRCALPHA)
        for centre in centres:
            self._pygame.draw.circle(layer, colour, self._at(centre), radius * self._unit)
        self._surface.blit(layer, (0, 0))

    def line(self, start: Point, end: Point, colour: Colour, thickness: Number = 2) -> None:
        wide = max(1, round(thickness * SHARPNESS))
        self._pygame.draw.line(self._surface, colour, self._at(start), self._at(end), wide)

    def dashes(self, start: Point, end: Point, colour: Colour) -> None:
        a, b = np.asarray(start, float), np.asarray(end, float)
        count = max(1, round(float(np.hypot(*(b - a))) * self._unit / (12 * SHARPNESS)))
        for i in range(count):
            near, far = a + (b - a) * i / count, a + (b - a) * (i + 0.5) / count
            self.line((near[0], near[1]), (far[0], far[1]), colour)

    def bar(self, centre: Point, width: Number, height: Number, share: Number) -> None:
        """A gauge that is full and green at 1, short and red near 0."""
        x, y = self._at(centre)
        left, top = x - width * self._unit / 2, y - height * self._unit / 2
        box = self._pygame.Rect(left, top, width * self._unit, height * self._unit)
        self._pygame.draw.rect(self._surface, (60, 20, 20), box)
        box.width = round(width * self._unit * share)
        colour = (round(220 * (1 - share)) + 30, round(170 * share) + 50, 60)
        self._pygame.draw.rect(self._surface, colour, box)

    def label(self, text: str, centre: Point, colour: Colour, size: int = 18) -> None:
        drawn = self._font(size * SHARPNESS).render(text, True, colour)
        self._surface.blit(drawn, drawn.get_rect(center=self._at(centre)))

    def header(self, text: str, colour: Colour, background: Colour) -> None:
        strip = self._pygame.Rect(0, 0, self._surface.get_width(), HEADER * SHARPNESS)
        self._pygame.draw.rect(self._surface, background, strip)
        drawn = self._font(22 * SHARPNESS).render(text, True, colour)
        place = drawn.get_rect(midleft=(12 * SHARPNESS, HEADER * SHARPNESS // 2))
        self._surface.blit(drawn, place)

    def picture(self) -> np.ndarray:
        """`(height, width, 3)` uint8."""
        width, height = self._surface.get_size()
        size = width // SHARPNESS, height // SHARPNESS
        small = self._pygame.transform.smoothscale(self._surface, size)
        return np.ascontiguousarray(self._pygame.surfarray.array3d(small).swapaxes(0, 1))
