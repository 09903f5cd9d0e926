"""The domains as PettingZoo parallel environments, with dictionaries by agent."""

from typing import Any

import numpy as np
from gymnasium import spaces

from crisptree.base.errors import CrisptreeError
from crisptree.envs.team import (
    FRAMES_PER_SECOND,
    RENDER_MODES,
    TeamEnv,
    TeamEpisode,
    observation_space,
)
from crisptree.envs.wildfire.env import Wildfire
from crisptree.envs.zerglings.env import FindAndDefeatZerglings

try:
    from pettingzoo import ParallelEnv
except ImportError as error:
    raise CrisptreeError("PettingZoo is missing; pip install 'crisptree[marl]' has it") from error


class TeamParallelEnv(ParallelEnv):
    """One episode at a time; a dead agent leaves `agents` and may send no more actions."""

    def __init__(self, env: TeamEnv, name: str, render_mode: str | None = None) -> None:
        self.metadata = {
            "name": name,
            "render_modes": list(RENDER_MODES),
            "render_fps": FRAMES_PER_SECOND,
            "is_parallelizable": True,
        }
        self.functional, self.render_mode = env, render_mode
        self.possible_agents = list(env.agent_names)
        self.agents: list[str] = []
        self._observation_spaces = {a: observation_space(env) for a in self.possible_agents}
        self._action_spaces = {
            a: spaces.Discrete(len(env.action_names)) for a in self.possible_agents
        }
        self._episode = TeamEpisode(env, render_mode)

    def observation_space(self, agent: str) -> spaces.Box:
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        return self._action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, dict]]:
        rows = self._episode.reset(seed)
        self.agents = list(self.possible_agents)
        return dict(zip(self.agents, rows, strict=True)), {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, Any]) -> tuple[dict, dict, dict, dict, dict]:
        if self.agents and set(actions) != set(self.agents):
            raise CrisptreeError(
                f"actions are due from {', '.join(self.agents)}, not from "
                f"{', '.join(actions) or 'nobody'}"
            )
        # What stands in a dead agent's place is ignored.
        at = self._episode.step([actions.get(agent, 0) for agent in self.possible_agents])
        acted, index = self.agents, [self.possible_agents.index(a) for a in self.agents]
        observation, reward, dead = (np.asarray(x)[index] for x in at[1:4])
        over = bool(at.truncated)
        self.agents = [] if over else [a for a, d in zip(acted, dead, strict=True) if not d]
        return (
            dict(zip(acted, observation, strict=True)),
            dict(zip(acted, reward.tolist(), strict=True)),
            dict(zip(acted, dead.tolist(), strict=True)),
            dict.fromkeys(acted, over),
            {agent: {} for agent in acted},
        )

    def render(self) -> np.ndarray | None:
        return self._episode.render()

    def close(self) -> None:
        self._episode.close()


def wildfire(render_mode: str | None = None, **parameters: Any) -> TeamParallelEnv:
    """Two drones; the parameters are those of `Wildfire`."""
    return TeamParallelEnv(Wildfire(**parameters), "crisptree_wildfire_v0", render_mode)


def zerglings(render_mode: str | None = None, **parameters: Any) -> TeamParallelEnv:
    """Three marines; the parameters are those of `FindAndDefeatZerglings`."""
    env = FindAndDefeatZerglings(**parameters)
    return TeamParallelEnv(env, "crisptree_zerglings_v0", render_mode)
