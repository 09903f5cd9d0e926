"""Many joint environments in one compiled call: gymnasium's native vector environment."""

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.utils.seeding import np_random
from gymnasium.vector.utils import batch_space

from crisptree.base.errors import CrisptreeError
from crisptree.envs.seeded_episodes import EpisodeState, compiled, seed_key
from crisptree.envs.team import FRAMES_PER_SECOND, TeamEnv, checked_actions, observation_space
from crisptree.envs.wildfire.env import Wildfire
from crisptree.envs.zerglings.env import FindAndDefeatZerglings


class JointVectorEnv(gym.vector.VectorEnv):
    """N episodes side by side, step for step what `SyncVectorEnv` makes of N `JointEnv`s.

    The step after an episode's end ignores its action and starts the next episode.
    """

    metadata = {  # noqa: RUF012
        "render_modes": ["rgb_array"],
        "render_fps": FRAMES_PER_SECOND,
        "autoreset_mode": gym.vector.AutoresetMode.NEXT_STEP,
    }

    def __init__(self, env: TeamEnv, num_envs: int, render_mode: str | None = None) -> None:
        if render_mode not in (None, "rgb_array"):
            raise CrisptreeError(f"render_mode must be rgb_array, not '{render_mode}'")
        self.functional, self.num_envs, self.render_mode = env, num_envs, render_mode
        self.single_observation_space = observation_space(env, env.n_agents)
        self.single_action_space = gym.spaces.MultiDiscrete([len(env.action_names)] * env.n_agents)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._compiled = compiled(env)
        self._states: EpisodeState | None = None
        self._over = np.zeros(num_envs, bool)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Environment i has `seed + i`; without a seed all go on from where they are."""
        seeds = self._seeds(seed)
        keys = [
            seed_key(np_random(one)[0])
            if one is not None or self._states is None
            else self._states.key[i]
            for i, one in enumerate(seeds)
        ]
        self._states, observation = self._compiled.begin_many(jnp.stack(keys))
        self._over = np.zeros(self.num_envs, bool)
        alive = np.ones((self.num_envs, self.functional.n_agents), bool)
        return np.asarray(observation), self._info(alive)

    def _seeds(self, seed: int | Sequence[int | None] | None) -> Sequence[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, int):
            return [seed + i for i in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise CrisptreeError(f"{len(seed)} seeds were given for {self.num_envs} environments")
        return seed

    def step(
        self, actions: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        if self._states is None:
            raise gym.error.ResetNeeded("no episode is under way: call reset() before step()")
        shape = (self.num_envs, self.functional.n_agents)
        chosen = checked_actions(self.functional, actions, shape)
        self._states, at = self._compiled.advance_or_begin_many(
            self._states, self._over, jnp.asarray(chosen)
        )
        dead = np.asarray(at.terminated)
        terminated, truncated = np.array(dead.all(axis=1)), np.array(at.truncated)
        self._over = terminated | truncated
        reward = np.asarray(at.reward[:, 0], np.float64)
        return np.asarray(at.observation), reward, terminated, truncated, self._info(~dead)

    def _info(self, alive: np.ndarray) -> dict[str, Any]:
        return {"alive": alive, "_alive": np.ones(self.num_envs, bool)}

    def render(self) -> tuple[np.ndarray, ...]:
        if self._states is None:
            raise gym.error.ResetNeeded("nothing to draw: call reset() before render()")
        states = jax.device_get(self._states.state)
        return tuple(
            self.functional.draw(jax.tree.map(lambda leaf, i=i: leaf[i], states))
            for i in range(self.num_envs)
        )


def wildfire(num_envs: int = 1, render_mode: str | None = None, **parameters: Any):
    return JointVectorEnv(Wildfire(**parameters), num_envs, render_mode)


def zerglings(num_envs: int = 1, render_mode: str | None = None, **parameters: Any):
    return JointVectorEnv(FindAndDefeatZerglings(**parameters), num_envs, render_mode)
