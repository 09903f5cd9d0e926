"""The whole team as one gymnasium environment: `(agents, features)` in, one action per agent out.

`CrispTree.predict` takes the rows of one observation as a batch, so a tree over one agent's
features plays the joint environment as it is.
"""

from typing import Any

import gymnasium as gym
import numpy as np

from crisptree.envs.team import (
    FRAMES_PER_SECOND,
    RENDER_MODES,
    TeamEnv,
    TeamEpisode,
    observation_space,
)
from crisptree.envs.wildfire.env import Wildfire
from crisptree.envs.zerglings.env import FindAndDefeatZerglings


class JointEnv(gym.Env):
    """One episode at a time. The reward is the team's.

    The episode terminates with its last agent. `info["alive"]` says which agents still act; the
    actions of the others must be valid ids and do nothing.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": FRAMES_PER_SECOND}  # noqa: RUF012

    def __init__(self, env: TeamEnv, render_mode: str | None = None) -> None:
        self.functional, self.render_mode = env, render_mode
        self.observation_space = observation_space(env, env.n_agents)
        self.action_space = gym.spaces.MultiDiscrete([len(env.action_names)] * env.n_agents)
        self._episode = TeamEpisode(env, render_mode)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        observation = self._episode.reset(seed)
        return observation, {"alive": np.ones(self.functional.n_agents, bool)}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        at = self._episode.step(action)
        dead = np.asarray(at.terminated)
        return (
            np.asarray(at.observation),
            float(at.reward[0]),
            bool(dead.all()),
            bool(at.truncated),
            {"alive": ~dead},
        )

    def render(self) -> np.ndarray | None:
        return self._episode.render()

    def close(self) -> None:
        self._episode.close()


def wildfire(render_mode: str | None = None, **parameters: Any) -> JointEnv:
    """`crisptree/Wildfire-v0`; the parameters are those of `Wildfire`."""
    return JointEnv(Wildfire(**parameters), render_mode)


def zerglings(render_mode: str | None = None, **parameters: Any) -> JointEnv:
    """`crisptree/Zerglings-v0`; the parameters are those of `FindAndDefeatZerglings`."""
    return JointEnv(FindAndDefeatZerglings(**parameters), render_mode)
