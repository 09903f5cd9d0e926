"""Many episodes of a closed loop side by side, with disturbances and noise at their worst."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crisptree.verify.claims import Claim
from crisptree.verify.loop import Loop

States = NDArray[np.float64]


@dataclass(frozen=True)
class Nature:
    """What acts on each episode at each step: `(steps, episodes, numbers)`, first the
    disturbances, then the noise of each feature."""

    acting: NDArray[np.float64]

    def take(self, rows: NDArray) -> "Nature":
        return Nature(self.acting[:, rows])


def natures(loop: Loop, n: int, steps: int, rng: np.random.Generator) -> Nature:
    """For a third of the episodes the same extremes at every step, for a third others at each, for
    the rest anything within the bounds."""
    bounds = np.concatenate([loop.plant.disturbance_box, _noise_box(loop)])
    shape = (steps, n, len(bounds))
    if not len(bounds):
        return Nature(np.zeros(shape))
    share = rng.uniform(size=shape)
    kind = np.arange(n) % 3
    share[:, kind == 0] = rng.integers(0, 2, (1, int((kind == 0).sum()), len(bounds)))
    share[:, kind == 1] = rng.integers(0, 2, (steps, int((kind == 1).sum()), len(bounds)))
    return Nature(bounds[:, 0] + share * (bounds[:, 1] - bounds[:, 0]))


def _noise_box(loop: Loop) -> NDArray[np.float64]:
    noise = np.array(loop.noise or ())
    return np.stack([-noise, noise], 1) if noise.any() else np.empty((0, 2))


def box_starts(box: NDArray[np.float64], n: int, rng: np.random.Generator) -> States:
    """Corners, faces and the inside of a box `(S, 2)`."""
    share = rng.uniform(size=(n, len(box)))
    kind = np.arange(n)[:, None] % 4
    ends = rng.integers(0, 2, share.shape)
    share = np.where(
        kind == 0, ends, np.where((kind == 1) & (rng.random(share.shape) < 0.5), ends, share)
    )
    return box[:, 0] + share * (box[:, 1] - box[:, 0])


def starts(loop: Loop, claim: Claim, n: int, rng: np.random.Generator) -> States:
    """Corners, faces and the inside of a claim's start, with any waiting action."""
    found = box_starts(claim.start, n, rng)
    waiting = loop.plant.reset_box[len(claim.start) :]
    if not len(waiting):
        return found
    chosen = rng.uniform(waiting[:, 0], waiting[:, 1], (n, len(waiting)))
    if loop.plant.actions.kind != "box":
        chosen = np.floor(rng.uniform(waiting[:, 0], waiting[:, 1] + 1, chosen.shape))
    return np.concatenate([found, chosen], axis=1)


def states(loop: Loop, begun: States, nature: Nature) -> Iterator[States]:
    """The states `(N, S)` at the start and after each step."""
    yield begun
    n_disturbances = len(loop.plant.disturbance)
    now = begun
    for acting in nature.acting:
        seen = loop.plant.observations(now)
        if acting.shape[1] > n_disturbances:
            seen = seen + acting[:, n_disturbances:]
            seen = seen.astype(loop.plant.observed_as)
        action = loop.tree.act(seen)
        if loop.tree.actions.kind == "box" and loop.tree.actions.dtype == "float32":
            action = action.astype(np.float32)
        now = loop.plant.play(now, action, acting[:, :n_disturbances])
        yield now
