"""A window that shows pictures at a steady pace. pygame is loaded when the first one opens."""

import os

import numpy as np


class Window:
    def __init__(self, frames_per_second: int) -> None:
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        import pygame

        self._pygame = pygame
        self._frames_per_second = frames_per_second
        pygame.display.init()
        self._screen = None
        self._clock = pygame.time.Clock()

    def show(self, frame: np.ndarray) -> None:
        """Put the picture on the screen and wait until it is time for the next one."""
        height, width, _ = frame.shape
        if self._screen is None:
            self._screen = self._pygame.display.set_mode((width, height))
            self._pygame.display.set_caption("crisptree")
        self._pygame.event.pump()
        self._pygame.surfarray.blit_array(self._screen, frame.swapaxes(0, 1))
        self._pygame.display.flip()
        self._clock.tick(self._frames_per_second)

    def close(self) -> None:
        self._pygame.display.quit()
