"""Many environments stepped together: one protocol for Gymnasium, envpool and JAX.

Actions are the policy's own: choices counted from 0, or real vectors. What an environment expects
instead (another start, another dtype or shape) is left to each backend.
"""

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np


class VectorStep(NamedTuple):
    """One step of R rows; a row is one environment, or one agent of a team's environment.

    `next_observation` is what the actions led to; `observation` is where the next step starts
    (after a reset it is another episode's first). `valid` is false for a step that only reset and
    for an agent that is out.
    """

    observation: np.ndarray  # (R, F) float32
    next_observation: np.ndarray  # (R, F) float32
    reward: np.ndarray  # (R,) float32
    terminated: np.ndarray  # (R,) bool
    truncated: np.ndarray  # (R,) bool
    valid: np.ndarray  # (R,) bool


@runtime_checkable
class VectorEnv(Protocol):
    def reset(self, seed: int) -> np.ndarray:
        """First observations (R, F); environment i has `seed + i`, from which all follows."""
        ...

    def send(self, action: np.ndarray) -> None:
        """Begin a step."""
        ...

    def receive(self) -> VectorStep:
        """The result of the step that was begun."""
        ...

    def step(self, action: np.ndarray) -> VectorStep:
        self.send(action)
        return self.receive()

    def close(self) -> None: ...
