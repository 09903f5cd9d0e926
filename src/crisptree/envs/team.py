"""Teams of agents: what a multi-agent environment offers besides `reset` and `step`, and one
episode of it at a time, seeded, stepped and shown.

The facades are `joint` (one gymnasium environment for the whole team), `joint_vector` (many of
them in one compiled call) and `pettingzoo` (one agent, one entry).
"""

import os
from typing import Any, ClassVar, Protocol

import gymnasium as gym
import jax.numpy as jnp
import numpy as np
from gymnasium.utils.seeding import np_random

from crisptree.base.errors import CrisptreeError
from crisptree.envs.functional import FunctionalEnv, TimeStep
from crisptree.envs.seeded_episodes import EpisodeState, compiled, seed_key

RENDER_MODES = ("rgb_array", "human")
FRAMES_PER_SECOND = 10


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


class TeamEpisode:
    def __init__(self, env: TeamEnv, render_mode: str | None) -> None:
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise CrisptreeError(
                f"render_mode must be one of {', '.join(RENDER_MODES)}, not '{render_mode}'"
            )
        self._env, self._render_mode = env, render_mode
        self._compiled = compiled(env)
        self._state: EpisodeState | None = None
        self._over = True
        self._window: Window | None = None

    def reset(self, seed: int | None) -> np.ndarray:
        """A fresh episode; without a seed it follows from the one before."""
        if seed is not None or self._state is None:
            self._state, observation = self._compiled.begin(seed_key(np_random(seed)[0]))
        else:
            self._state, observation = self._compiled.begin(self._state.key)
        self._over = False
        self._show()
        return np.asarray(observation)

    def step(self, action: Any) -> TimeStep:
        if self._over or self._state is None:
            raise gym.error.ResetNeeded("no episode is under way: call reset() before step()")
        chosen = checked_actions(self._env, action, (self._env.n_agents,))
        self._state, at = self._compiled.advance(self._state, jnp.asarray(chosen))
        self._over = bool(at.truncated) or bool(np.asarray(at.terminated).all())
        self._show()
        return at

    def render(self) -> np.ndarray | None:
        if self._state is None:
            raise gym.error.ResetNeeded("nothing to draw: call reset() before render()")
        if self._render_mode == "rgb_array":
            return self._env.draw(self._state.state)
        self._show()
        return None

    def _show(self) -> None:
        if self._render_mode == "human" and self._state is not None:
            self._window = self._window or Window(FRAMES_PER_SECOND)
            self._window.show(self._env.draw(self._state.state))

    def close(self) -> None:
        if self._window is not None:
            self._window.close()
            self._window = None


class Window:
    """Shows pictures at a steady pace. pygame is loaded when the first window opens."""

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
