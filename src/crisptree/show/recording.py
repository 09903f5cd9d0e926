"""Recorded episodes, as the page shows them."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crisptree.show.video import Video, subsampled

MOST_BYTES = 1_900_000
"""Bytes of all pictures together; as text in a page they take a third more."""


@dataclass(frozen=True)
class RecordedEpisode:
    """What happened: `steps + 1` observations, `steps` rewards, a picture every `stride` steps."""

    seed: int
    observations: NDArray
    """`(steps + 1, agents, features)`; the last ones are where the episode ended."""
    rewards: NDArray[np.float64]
    ended: str
    """How it ended: `terminated`, `was truncated`, or `was cut` where the recording stopped."""
    video: Video | None = None
    stride: int = 1


@dataclass(frozen=True)
class Recording:
    """Episodes of one environment, and how many steps it makes a second."""

    episodes: tuple[RecordedEpisode, ...] = ()
    fps: float = 30.0
    note: str = ""
    """Why there are no episodes, or no pictures."""
    decided: NDArray | None = None
    """The observations on which the policy decided, where these are not all but the last ones: an
    agent that is out decides nothing."""

    @property
    def states(self) -> NDArray:
        """Every observation on which the policy decided, `(states, features)`."""
        if self.decided is not None:
            return self.decided
        width = self.episodes[0].observations.shape[-1]
        return np.concatenate([each.observations[:-1].reshape(-1, width) for each in self.episodes])


def fitted(recorded: Recording, most_bytes: int = MOST_BYTES) -> Recording:
    """The recording with as many pictures, as sharp, as the bytes allow; pictures become fewer
    before they become coarser."""
    step, stride = 1, 1
    found = recorded
    while sum(each.video.size for each in found.episodes if each.video) > most_bytes:
        stride, step = (stride * 2, step) if stride < 4 * step else (stride, step * 2)
        if step > 16:
            note = "the pictures of these episodes are too large for a page"
            bare = tuple(replace(each, video=None, stride=1) for each in recorded.episodes)
            return replace(recorded, episodes=bare, note=note)
        thin = (
            replace(each, video=subsampled(each.video, stride, step), stride=stride)
            if each.video
            else each
            for each in recorded.episodes
        )
        found = replace(recorded, episodes=tuple(thin))
    return found
