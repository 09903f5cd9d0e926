"""An environment of a user whose steps are slow: they wait, or keep the processor busy."""

import time

import gymnasium as gym


class Slow(gym.Wrapper):
    def __init__(self, ms: float, busy: bool, env_id: str) -> None:
        super().__init__(gym.make(env_id))
        self._seconds, self._busy = ms / 1000, busy

    def step(self, action):
        end = time.thread_time() + self._seconds
        while self._busy and time.thread_time() < end:
            pass
        if not self._busy:
            time.sleep(self._seconds)
        return self.env.step(action)


def make(ms: float = 20.0, busy: bool = False, env_id: str = "CartPole-v1") -> gym.Env:
    return Slow(ms, busy, env_id)
