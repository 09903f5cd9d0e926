"""Gymnasium's classic control tasks as plants: the same equations, operation by operation."""

import math
from typing import Any

from crisptree.crisp.signature import Actions
from crisptree.verify.plants.plant import Columns, Plant
from crisptree.verify.plants.runge_kutta import runge_kutta


def _cart_pole(xp: Any, state: Columns, action: Any, disturbance: Columns) -> Columns:
    position, velocity, angle, spin = state
    force = xp.where(action == 1, 10.0, -10.0)
    cos, sin = xp.cos(angle), xp.sin(angle)
    pushed = (force + 0.05 * xp.square(spin) * sin) / 1.1
    spin_rate = (9.8 * sin - cos * pushed) / (0.5 * (4.0 / 3.0 - 0.1 * xp.square(cos) / 1.1))
    acceleration = pushed - 0.05 * spin_rate * cos / 1.1
    return (
        position + 0.02 * velocity,
        velocity + 0.02 * acceleration,
        angle + 0.02 * spin,
        spin + 0.02 * spin_rate,
    )


CART_POLE = Plant(
    name="CartPole",
    step=_cart_pole,
    states={
        "cart position": (-0.05, 0.05),
        "cart velocity": (-0.05, 0.05),
        "pole angle": (-0.05, 0.05),
        "pole angular velocity": (-0.05, 0.05),
    },
    actions=Actions.discrete(("push left", "push right")),
    limits={
        "cart position": (-2.4, 2.4),
        "pole angle": (-12 * 2 * math.pi / 360, 12 * 2 * math.pi / 360),
    },
    max_steps=500,
    env_id="CartPole-v1",
)


def _mountain_car(xp: Any, state: Columns, action: Any, disturbance: Columns) -> Columns:
    position, velocity = state
    velocity = velocity + ((action - 1) * 0.001 + xp.cos(3 * position) * -0.0025)
    velocity = xp.clip(velocity, -0.07, 0.07)
    position = xp.clip(position + velocity, -1.2, 0.6)
    stopped = (position == -1.2) & (velocity < 0)
    return position, xp.where(stopped, 0.0, velocity)


MOUNTAIN_CAR = Plant(
    name="MountainCar",
    step=_mountain_car,
    states={"position": (-0.6, -0.4), "velocity": (0.0, 0.0)},
    actions=Actions.discrete(("accelerate left", "do not accelerate", "accelerate right")),
    goal={"position": (0.5, math.inf), "velocity": (0.0, math.inf)},
    max_steps=200,
    env_id="MountainCar-v0",
)


def _pendulum(xp: Any, state: Columns, action: Any, disturbance: Columns) -> Columns:
    angle, velocity = state
    torque = xp.float32(xp.clip(action[0], -2.0, 2.0))
    pushed = xp.float32(3.0 * torque)  # gymnasium multiplies in the action's float32
    velocity = velocity + (15.0 * xp.sin(angle) + pushed) * 0.05
    velocity = xp.clip(velocity, -8.0, 8.0)
    return angle + velocity * 0.05, velocity


def _pendulum_features(xp: Any, state: Columns) -> Columns:
    angle, velocity = state
    return xp.cos(angle), xp.sin(angle), velocity


def _pendulum_reward(xp: Any, state: Columns, action: Any, after: Columns) -> Any:
    angle, velocity = state
    angle = (angle + math.pi) % (2 * math.pi) - math.pi
    torque = xp.clip(action[0], -2.0, 2.0)
    return -(xp.square(angle) + 0.1 * xp.square(velocity) + 0.001 * xp.square(torque))


PENDULUM = Plant(
    name="Pendulum",
    step=_pendulum,
    states={"angle": (-math.pi, math.pi), "angular velocity": (-1.0, 1.0)},
    actions=Actions.box(("torque",), (-2.0,), (2.0,), shape=(1,)),
    features=_pendulum_features,
    feature_names=("cos angle", "sin angle", "angular velocity"),
    reward=_pendulum_reward,
    max_steps=200,
    env_id="Pendulum-v1",
)


def _acrobot_rates(xp: Any, state: Columns, torque: Any) -> Columns:
    angle1, angle2, spin1, spin2 = state
    cos2, sin2 = xp.cos(angle2), xp.sin(angle2)
    d1 = 0.25 + (1.25 + cos2) + 1.0 + 1.0
    d2 = (0.25 + 0.5 * cos2) + 1.0
    phi2 = 0.5 * 9.8 * xp.cos(angle1 + angle2 - math.pi / 2)
    phi1 = (
        -0.5 * xp.square(spin2) * sin2
        - spin2 * spin1 * sin2
        + 1.5 * 9.8 * xp.cos(angle1 - math.pi / 2)
        + phi2
    )
    ratio = d2 / d1
    rate2 = (torque + ratio * phi1 - 0.5 * xp.square(spin1) * sin2 - phi2) / (
        1.25 - xp.square(d2) / d1
    )
    rate1 = -(d2 * rate2 + phi1) / d1
    return spin1, spin2, rate1, rate2


def _wrapped(xp: Any, angle: Any) -> Any:
    below = xp.where(angle < -math.pi, angle + 2 * math.pi, angle)
    return xp.where(angle > math.pi, angle - 2 * math.pi, below)


def _acrobot(xp: Any, state: Columns, action: Any, disturbance: Columns) -> Columns:
    torque = action - 1.0

    moved = runge_kutta(lambda now: _acrobot_rates(xp, now, torque), state, 0.2)
    angle1, angle2, spin1, spin2 = moved
    return (
        _wrapped(xp, angle1),
        _wrapped(xp, angle2),
        xp.clip(spin1, -4 * math.pi, 4 * math.pi),
        xp.clip(spin2, -9 * math.pi, 9 * math.pi),
    )


def _acrobot_features(xp: Any, state: Columns) -> Columns:
    angle1, angle2, spin1, spin2 = state
    return xp.cos(angle1), xp.sin(angle1), xp.cos(angle2), xp.sin(angle2), spin1, spin2


def _acrobot_height(xp: Any, state: Columns) -> Columns:
    return (-xp.cos(state[0]) - xp.cos(state[1] + state[0]),)


JOINTS = ("joint 1", "joint 2", "angular velocity of joint 1", "angular velocity of joint 2")

ACROBOT = Plant(
    name="Acrobot",
    step=_acrobot,
    states=dict.fromkeys(JOINTS, (-0.1, 0.1)),
    actions=Actions.discrete(("torque -1", "no torque", "torque +1")),
    features=_acrobot_features,
    feature_names=(
        "cos of joint 1",
        "sin of joint 1",
        "cos of joint 2",
        "sin of joint 2",
        *JOINTS[2:],
    ),
    outputs=_acrobot_height,
    output_names=("height",),
    goal={"height": (math.nextafter(1.0, 2.0), math.inf)},
    max_steps=500,
    env_id="Acrobot-v1",
)
