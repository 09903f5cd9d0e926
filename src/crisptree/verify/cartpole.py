"""CartPole's physics as gymnasium computes it: for states, for boxes of states, for real."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.verify.intervals import Interval, constant

ENV_IDS = ("CartPole-v0", "CartPole-v1")
RESET = 0.05
"""Episodes start with every number within ± this."""


class Physics(NamedTuple):
    """The constants, and the limits beyond which an episode ends."""

    gravity: float
    total_mass: float
    pole_mass: float
    half_pole: float
    pole_mass_length: float
    force: float
    seconds: float
    position_limit: float
    angle_limit: float

    @property
    def limits(self) -> NDArray[np.float64]:
        """The largest size of each number while an episode lasts."""
        return np.array([self.position_limit, np.inf, self.angle_limit, np.inf])


@cache
def physics() -> Physics:
    """gymnasium's own constants."""
    env = environment()
    return Physics(
        env.gravity,
        env.total_mass,
        env.masspole,
        env.length,
        env.polemass_length,
        env.force_mag,
        env.tau,
        env.x_threshold,
        env.theta_threshold_radians,
    )


def environment() -> Any:
    """CartPole itself, without a limit of time."""
    import gymnasium

    return gymnasium.make("CartPole-v1").unwrapped


def step(states: NDArray[np.float64], actions: NDArray[np.int64]) -> NDArray[np.float64]:
    """The states `(N, 4)` after one step."""
    p = physics()
    _, velocity, angle, spin = states.T
    force = np.where(actions == 1, p.force, -p.force)
    cos, sin = np.cos(angle), np.sin(angle)
    pushed = (force + p.pole_mass_length * np.square(spin) * sin) / p.total_mass
    inertia = p.half_pole * (4.0 / 3.0 - p.pole_mass * np.square(cos) / p.total_mass)
    spin_rate = (p.gravity * sin - cos * pushed) / inertia
    acceleration = pushed - p.pole_mass_length * spin_rate * cos / p.total_mass
    rates = np.stack([velocity, acceleration, spin, spin_rate], axis=1)
    return states + p.seconds * rates


def step_boxes(
    low: NDArray[np.float64], high: NDArray[np.float64], action: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Boxes that hold every state one step after the boxes `(N, 4)`; the operations are those of
    `step`, in its order. Angles must lie within ±π/2."""
    p = physics()
    now = [Interval(low[:, at], high[:, at]) for at in range(4)]
    _, velocity, angle, spin = now
    force = constant(p.force if action == 1 else -p.force)
    length, mass = constant(p.pole_mass_length), constant(p.total_mass)
    cos, sin = angle.cosine(), angle.sine()
    pushed = force.plus(length.times(spin.squared()).times(sin)).over(mass)
    bob = constant(p.pole_mass).times(cos.squared()).over(mass)
    inertia = constant(p.half_pole).times(constant(4.0 / 3.0).minus(bob))
    spin_rate = constant(p.gravity).times(sin).minus(cos.times(pushed)).over(inertia)
    acceleration = pushed.minus(length.times(spin_rate).times(cos).over(mass))
    rates = (velocity, acceleration, spin, spin_rate)
    time = constant(p.seconds)
    after = [each.plus(time.times(rate)) for each, rate in zip(now, rates, strict=True)]
    return np.stack([each.low for each in after], 1), np.stack([each.high for each in after], 1)


def replay(tree: CrispTree, start: NDArray[np.float64], steps: int) -> NDArray[np.float64]:
    """The states gymnasium's own CartPole goes through from `start`, until it ends the episode or
    `steps` are done; the first row is `start`."""
    env = environment()
    env.reset(seed=0)
    env.state = np.array(start, dtype=np.float64)
    states = [np.array(start, dtype=np.float64)]
    observation = np.array(start, dtype=np.float32)
    for _ in range(steps):
        action = int(tree.predict(observation)[0])
        observation, _, terminated, _, _ = env.step(action)
        states.append(np.array(env.state))
        if terminated:
            break
    return np.stack(states)
