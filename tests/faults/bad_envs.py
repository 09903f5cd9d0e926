"""Environments that misbehave: a user's own module, which the tests copy to the working folder.

`bad_envs:bad` takes the fault and the moment: when it is made, at a reset, or at its n-th step;
with `late`, not before the run's directory is there.
"""

import os
import sys
import threading
import time
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

ODD_OBSERVATIONS: dict[str, Any] = {
    "nan": np.array([0.0, np.nan], np.float32),
    "inf": np.array([np.inf, 0.0], np.float32),
    "none": None,
    "huge": np.array([1e39, 0.0]),
    "shape": np.zeros(3, np.float32),
    "text": "two",
    "nothing": np.zeros(0, np.float32),
    "complex": np.array([1j, 0]),
    "400 digits": [10**400, 0],
    "objects": np.array([None, {}], object),
}
ODD_REWARDS: dict[str, Any] = {
    "reward nan": np.nan,
    "reward inf": -np.inf,
    "reward none": None,
    "reward text": "much",
    "reward vector": np.zeros(2),
    "reward 1e39": 1e39,
    "reward complex": 1j,
    "reward of 400 digits": 10**400,
}
TOO_LARGE_TO_LEARN = ("observations 1e38", "rewards 1e38")
ODD_STEPS: dict[str, Any] = {
    "four values": (np.zeros(2, np.float32), 1.0, False, {}),
    "step none": None,
    "step text": "wrong",
}


class Bad(gymnasium.Env):
    """Two numbers that say nothing; a reward of 1 each step."""

    action_space = spaces.Discrete(2)

    def __init__(
        self, fault: str = "", at: str = "step", after: int = 3, length: int = 6, late: bool = False
    ) -> None:
        self.observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float32)
        self.fault, self.at, self.after, self.length = fault, at, after, length
        self.time = self.total = 0
        self.late = late
        self._maybe("init")

    def _maybe(self, where: str) -> None:
        """Misbehave in ways that need no return value."""
        if not self._is_time(where):
            return
        match self.fault:
            case "raise":
                raise RuntimeError("the motor\nburned out \x1b[31m")
            case "raise nothing":
                raise KeyError
            case "exit":
                sys.exit(3)
            case "crash":
                os._exit(9)
            case "abort":
                os.abort()
            case "print":
                print("hello from the environment")
                os.write(1, b"hello from C\n")
            case "slow":
                time.sleep(0.05)
            case "panic":
                raise type("PanicException", (BaseException,), {})("in Rust")
            case "thread":
                thread = threading.Thread(target=lambda: 1 / 0)
                thread.start()
                thread.join()
            case "recursion":
                self._maybe(where)

    def _odd(self, where: str, table: dict[str, Any], usual: Any) -> Any:
        return table.get(self.fault, usual) if self._is_time(where) else usual

    def _is_time(self, where: str) -> bool:
        if where != self.at or (where == "step" and self.total < self.after):
            return False
        return not self.late or os.path.exists("run/config.json")

    def reset(self, *, seed=None, options=None) -> Any:
        super().reset(seed=seed)
        self.time = 0
        self._maybe("reset")
        seen = self._seen()
        if self.fault == "reset text" and self.at == "reset":
            return "text"
        return self._odd("reset", ODD_OBSERVATIONS, seen), {}

    def _seen(self) -> np.ndarray:
        size = 1e38 if self.fault == "observations 1e38" else 1.0
        return (size * self.np_random.random(2)).astype(np.float32)

    def step(self, action):
        self.time += 1
        self.total += 1
        self._maybe("step")
        seen = self._odd("step", ODD_OBSERVATIONS, self._seen())
        usual = 1e38 if self.fault == "rewards 1e38" else 1.0
        reward = self._odd("step", ODD_REWARDS, usual)
        usual = seen, reward, self.time >= self.length, False, {}
        return self._odd("step", ODD_STEPS, usual)

    def close(self):
        if self.at == "close":
            raise RuntimeError("it does not close")


def bad(**kwargs):
    return Bad(**kwargs)


def odd_spaces(what: str = "") -> gymnasium.Env:
    """An environment whose spaces are the fault."""
    env = Bad()
    match what:
        case "zero features":
            env.observation_space = spaces.Box(-1, 1, (0,), np.float32)
        case "no observation space":
            env.observation_space = None  # pyright: ignore
        case "no action space":
            env.action_space = None  # pyright: ignore
        case "one action":
            env.action_space = spaces.Discrete(1)
        case "text observations":
            env.observation_space = spaces.Text(10)  # pyright: ignore
        case "a sequence of actions":
            env.action_space = spaces.Sequence(spaces.Discrete(2))  # pyright: ignore
        case "unbounded actions":
            env.action_space = spaces.Box(-np.inf, np.inf, (1,))
        case "pictures":
            env.observation_space = spaces.Box(0, 255, (210, 160, 3), np.uint8)
    return env


def no_environment() -> object:
    return {"an": "object"}


NO_FUNCTION = 7
