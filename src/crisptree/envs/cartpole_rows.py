"""CartPole in NumPy, many at once: bit for bit the episodes of gymnasium's own CartPole-v1.

Nothing is compiled and no JAX is imported: thousands of episodes are over before a program for
them would be ready.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from crisptree.envs.first_draws import first_uniforms
from crisptree.envs.host import HostEnvs, HostStep

GRAVITY = 9.8
POLE_MASS = 0.1
CART_MASS = 1.0
TOTAL_MASS = CART_MASS + POLE_MASS
HALF_POLE = 0.5
FORCE = 10.0
SECONDS_PER_STEP = 0.02
POSITION_LIMIT = 2.4
ANGLE_LIMIT = 12 * 2 * math.pi / 360
MAX_STEPS = 500
FIRST = 0.05
"""How far from nothing an episode may begin, in every number of its state."""


class CartPoleRows(HostEnvs):
    """N host environments."""

    def __init__(self, n_envs: int) -> None:
        self._n_envs = n_envs

    def reset(self, seed: int) -> np.ndarray:
        self._dice = [np.random.default_rng(seed + i) for i in range(self._n_envs)]
        self._state = np.stack([_fresh(dice) for dice in self._dice], axis=1)
        self._time = np.zeros(self._n_envs, np.int64)
        return _seen(self._state)

    def send(self, action: np.ndarray) -> None:
        self._action = action

    def receive(self) -> HostStep:
        self._state, terminated = moved(self._state, self._action)
        self._time += 1
        led_to = _seen(self._state)
        truncated = (self._time >= MAX_STEPS) & ~terminated
        for i in np.flatnonzero(terminated | truncated):
            self._state[:, i], self._time[i] = _fresh(self._dice[i]), 0
        every = np.ones(self._n_envs, bool)
        reward = every.astype(np.float32)
        return HostStep(_seen(self._state), led_to, reward, terminated, truncated, every)

    def close(self) -> None:
        """Nothing to close."""


def play_rows(
    decide: Callable[[np.ndarray, np.ndarray], np.ndarray],
    seeds: Sequence[int],
    report: Callable[[int], None] = lambda finished: None,
    *,
    player: np.ndarray | None = None,
) -> np.ndarray:
    """The return of one episode a seed; `decide` gives the actions in the episodes of the given
    numbers, from their observations. Where it is told which `player` each episode is of, a player
    is out when the first of its poles falls: its other episodes end there."""
    state = first_uniforms(seeds, -FIRST, FIRST, 4)
    lived, running = np.zeros(len(seeds)), np.arange(len(seeds))
    for time in range(1, MAX_STEPS + 1):
        state, over = moved(state, np.asarray(decide(running, _seen(state))))
        if time == MAX_STEPS:
            over[:] = True
        elif player is not None and over.any():
            over = np.isin(player[running], player[running[over]])
        if over.any():
            lived[running[over]] = time
            state, running = state[:, ~over], running[~over]
            report(len(seeds) - len(running))
        if not len(running):
            break
    return lived


def moved(state: np.ndarray, action: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The states `(4, N)` a step later, and whether the pole has fallen or the cart is off."""
    position, velocity, angle, spin = state
    force = np.where(action == 1, FORCE, -FORCE)
    cos, sin = np.cos(angle), np.sin(angle)
    # The order of every operation is gymnasium's: another one rounds differently.
    pushed = (force + POLE_MASS * HALF_POLE * np.square(spin) * sin) / TOTAL_MASS
    turning = (GRAVITY * sin - cos * pushed) / (
        HALF_POLE * (4.0 / 3.0 - POLE_MASS * np.square(cos) / TOTAL_MASS)
    )
    driving = pushed - POLE_MASS * HALF_POLE * turning * cos / TOTAL_MASS
    later = np.empty_like(state)
    for at, (was, change) in enumerate(
        ((position, velocity), (velocity, driving), (angle, spin), (spin, turning))
    ):
        np.add(was, SECONDS_PER_STEP * change, out=later[at])
    return later, (np.abs(later[0]) > POSITION_LIMIT) | (np.abs(later[2]) > ANGLE_LIMIT)


def _fresh(dice: np.random.Generator) -> np.ndarray:
    return dice.uniform(-FIRST, FIRST, 4)


def _seen(state: np.ndarray) -> np.ndarray:
    return state.T.astype(np.float32)
