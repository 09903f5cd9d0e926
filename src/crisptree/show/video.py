"""Recorded pictures, packed so that hundreds of them fit into a page.

A frame is one palette number a pixel, stored as its difference from the frame before, and a chunk
of frames is deflated: of a picture in which little moves, little remains. Lossless but for the
colours, of which there are at most 256, told apart to 5 bits a channel.
"""

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FRAMES_PER_CHUNK = 32
MOST_COLOURS = 256
WIDEST = 640


@dataclass(frozen=True)
class Video:
    """`length` frames of `height` × `width` pixels."""

    width: int
    height: int
    palette: NDArray[np.uint8]
    """`(colours, 3)`."""
    chunks: tuple[bytes, ...]
    length: int

    @property
    def size(self) -> int:
        """Bytes of the chunks."""
        return sum(map(len, self.chunks))

    def frames(self) -> Iterator[NDArray[np.uint8]]:
        """Palette numbers `(height, width)`, frame by frame."""
        for chunk in self.chunks:
            packed = np.frombuffer(zlib.decompress(chunk), np.uint8)
            frame = np.zeros((self.height, self.width), np.uint8)
            for difference in packed.reshape(-1, self.height, self.width):
                frame = frame ^ difference
                yield frame


class VideoEncoder:
    """Packs pictures one by one, as they come."""

    def __init__(self) -> None:
        self._palette: list[NDArray[np.uint8]] = []
        self._number = np.full(2**15, -1, np.int16)
        self._waiting: list[NDArray[np.uint8]] = []
        self._last: NDArray[np.uint8] = np.empty((0, 0), np.uint8)
        self._chunks: list[bytes] = []
        self._length = 0
        self._shape: tuple[int, ...] | None = None
        self._before: NDArray[np.uint8] | None = None

    def add(self, picture: NDArray[np.uint8]) -> None:
        """One RGB picture `(height, width, 3)`; all of a video have the same size."""
        factor = -(-picture.shape[1] // WIDEST)
        small = np.ascontiguousarray(picture[::factor, ::factor])
        if self._shape not in (None, small.shape):
            raise ValueError(f"a picture of {small.shape} in a video of {self._shape}")
        self._shape = small.shape
        self._waiting.append(self._frame(small))
        self._before = small
        self._length += 1
        if len(self._waiting) == FRAMES_PER_CHUNK:
            self._pack()

    def video(self) -> Video:
        """The video of all pictures so far."""
        if self._shape is None:
            raise ValueError("no picture was added")
        self._pack()
        height, width = self._shape[:2]
        palette = np.array(self._palette, np.uint8)
        return Video(width, height, palette, tuple(self._chunks), self._length)

    def _pack(self) -> None:
        if self._waiting:
            self._last = self._waiting[-1]
            self._chunks.append(packed(self._waiting))
            self._waiting = []

    def _frame(self, picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The picture in palette numbers. Rows that equal those of the picture before, as most do,
        are not looked up again."""
        if self._before is None:
            return self._numbers(picture)
        frame = (self._waiting[-1] if self._waiting else self._last).copy()
        changed = (picture != self._before).reshape(len(picture), -1).any(axis=1)
        frame[changed] = self._numbers(picture[changed])
        return frame

    def _numbers(self, pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
        red, green, blue = (pixels[..., at].astype(np.uint16) >> 3 for at in range(3))
        codes = red << 10 | green << 5 | blue
        numbers = self._number[codes]
        if (numbers < 0).any():
            for code in np.unique(codes[numbers < 0]).tolist():
                self._number[code] = self._number_for(pixels[codes == code][0])
            numbers = self._number[codes]
        return numbers.astype(np.uint8)

    def _number_for(self, colour: NDArray[np.uint8]) -> int:
        """A new number while there are any, then that of the most similar colour."""
        if len(self._palette) < MOST_COLOURS:
            self._palette.append(colour)
            return len(self._palette) - 1
        apart = np.array(self._palette, np.int32) - colour.astype(np.int32)
        return int(np.argmin((apart**2).sum(axis=1)))


def packed(frames: list[NDArray[np.uint8]]) -> bytes:
    """A chunk: the first frame, then differences, deflated."""
    stack = np.stack(frames)
    stack[1:] ^= np.stack(frames[:-1]) if len(frames) > 1 else stack[1:]
    return zlib.compress(stack.tobytes())


def subsampled(video: Video, stride: int, step: int = 1) -> Video:
    """Every `stride`-th frame, and of it every `step`-th pixel each way."""
    kept = (frame[::step, ::step] for at, frame in enumerate(video.frames()) if at % stride == 0)
    chunks = [packed(frames) for frames in _batches(kept)]
    height, width = -(-video.height // step), -(-video.width // step)
    return Video(width, height, video.palette, tuple(chunks), -(-video.length // stride))


def _batches(frames: Iterable[NDArray[np.uint8]]) -> Iterator[list[NDArray[np.uint8]]]:
    batch: list[NDArray[np.uint8]] = []
    for frame in frames:
        batch.append(frame)
        if len(batch) == FRAMES_PER_CHUNK:
            yield batch
            batch = []
    if batch:
        yield batch
