"""What a multi-agent environment offers besides `reset` and `step`, for its facades.

The facades are `joint` (one gymnasium environment for the whole team), `joint_vector` (many of
them in one compiled call) and `pettingzoo` (one agent, one entry).
"""

from typing import Any, ClassVar, Protocol

import gymnasium as gym
import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.envs.functional import FunctionalEnv


class TeamEnv(FunctionalEnv, Protocol):
    """Agents that share one policy and one reward: every row of `reward` is the team's."""

    agent_names: ClassVar[tuple[str, ...]]
    action_names: ClassVar[tuple[str, ...]]

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """The least and the greatest value of each feature, `(F,)`."""
        ...

    def draw(self, state: Any) -> np.ndarray:
        """A picture of the state, `(height, width, 3)` uint8."""
        ...


def observation_space(env: TeamEnv, *lead: int) -> gym.spaces.Box:
    low, high = env.bounds()
    return gym.spaces.Box(
        np.broadcast_to(low, (*lead, env.n_features)).astype(np.float32),
        np.broadcast_to(high, (*lead, env.n_features)).astype(np.float32),
    )


def checked_actions(env: TeamEnv, action: Any, shape: tuple[int, ...]) -> np.ndarray:
    """The actions as int32, or a refusal that says what is wrong with them."""
    array = np.asarray(action)
    if array.shape != shape or array.dtype.kind not in "iu":
        raise CrisptreeError(
            f"actions must be integers of shape {shape}, not {array.dtype} of shape {array.shape}"
        )
    wrong = array[(array < 0) | (array >= len(env.action_names))]
    if wrong.size:
        known = ", ".join(f"{i} {name}" for i, name in enumerate(env.action_names))
        raise CrisptreeError(f"no action {wrong[0]}; the actions are {known}")
    return array.astype(np.int32)
