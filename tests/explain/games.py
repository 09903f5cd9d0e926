"""Small environments whose returns can be worked out."""

import gymnasium as gym
import numpy as np

from crisptree.crisp import CrispTree
from crisptree.envs.task import task_of

STEPS = 6


class Guess(gym.Env):
    """Two random numbers a step; one point for action 1 where the first is above a half, and for
    action 0 elsewhere. The second number means nothing."""

    metadata = {"render_modes": []}  # noqa: RUF012  as gymnasium has it
    observation_space = gym.spaces.Box(0, 1, (2,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._left = STEPS
        return self._look(), {}

    def step(self, action):
        reward = float(action == (self._shown[0] > 0.5))
        self._left -= 1
        return self._look(), reward, self._left == 0, False, {}

    def _look(self):
        self._shown = self.np_random.random(2, dtype=np.float32)
        return self._shown


gym.register("Guess-v0", lambda **_: Guess())
GUESS = task_of("Guess-v0")
FEATURES, ACTIONS = ("telling", "idle"), ("low", "high")


def guess(nested) -> CrispTree:
    return CrispTree.from_nested(nested, FEATURES, ACTIONS, env_id="Guess-v0")


RIGHT = guess(("telling", 0.5, "high", "low"))
IDLE = guess(("idle", 0.3, ("telling", 0.5, "high", "low"), ("telling", 0.5, "high", "low")))


def shown(seeds) -> np.ndarray:
    """What the game shows in these episodes, `(episodes, steps, 2)`."""
    episodes = []
    for seed in seeds:
        game = Guess()
        first = game.reset(seed=int(seed))[0]
        episodes.append([first, *(game.step(0)[0] for _ in range(STEPS - 1))])
    return np.array(episodes)
