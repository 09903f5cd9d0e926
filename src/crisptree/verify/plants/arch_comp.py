"""Two plants of ARCH-COMP's benchmarks for learned controllers (category AINNCS).

Their equations are continuous; here a control period is one step of Runge and Kutta's method of
order four, which is what a proof speaks of.
"""

from typing import Any

from crisptree.crisp.signature import Actions
from crisptree.verify.plants.plant import Columns, Plant
from crisptree.verify.plants.runge_kutta import runge_kutta


def _pendulum_rates(xp: Any, state: Columns, action: Any) -> Columns:
    angle, velocity = state
    return velocity, 2.0 * xp.sin(angle) + 8.0 * action[0]


def _pendulum(xp: Any, state: Columns, action: Any, disturbance: Columns) -> Columns:
    return runge_kutta(lambda now: _pendulum_rates(xp, now, action), state, 0.05)


SINGLE_PENDULUM = Plant(
    name="SinglePendulum",
    step=_pendulum,
    states={"angle": (1.0, 1.2), "angular velocity": (0.0, 0.2)},
    actions=Actions.box(("torque",), (-1.0,), (1.0,), dtype="float64"),
    max_steps=20,
    observed_as="float64",
)
"""The benchmark asks for an angle in [0, 1] from 0.5 s to 1 s, which is from step 10 to step 20."""

FRICTION = 0.0001


def _cruise(xp: Any, state: Columns, action: Any, disturbance: Columns) -> Columns:
    braking = -2.0
    own = xp.where(action == 0, -3.0, xp.where(action == 1, 0.0, 1.0))

    def rates(now: Columns) -> Columns:
        _, lead_speed, lead_rate, _, speed, rate = now
        return (
            lead_speed,
            lead_rate,
            -2.0 * lead_rate + 2.0 * braking - FRICTION * xp.square(lead_speed),
            speed,
            rate,
            -2.0 * rate + 2.0 * own - FRICTION * xp.square(speed),
        )

    return runge_kutta(rates, state, 0.1)


def _cruise_features(xp: Any, state: Columns) -> Columns:
    lead, lead_speed, _, place, speed, _ = state
    return speed, lead - place, lead_speed - speed


def _cruise_margin(xp: Any, state: Columns) -> Columns:
    lead, _, _, place, speed, _ = state
    return (lead - place - 1.4 * speed - 10.0,)


CRUISE_CONTROL = Plant(
    name="CruiseControl",
    step=_cruise,
    states={
        "place of the lead": (90.0, 110.0),
        "speed of the lead": (32.0, 32.2),
        "acceleration of the lead": (0.0, 0.0),
        "own place": (10.0, 11.0),
        "own speed": (30.0, 30.2),
        "own acceleration": (0.0, 0.0),
    },
    actions=Actions.discrete(("brake", "roll", "speed up")),
    features=_cruise_features,
    feature_names=("own speed", "distance", "relative speed"),
    outputs=_cruise_margin,
    output_names=("spare distance",),
    max_steps=50,
    observed_as="float64",
)
"""The car ahead brakes; the benchmark asks for a spare distance (beyond 10 m and 1.4 s) above 0 for
5 s, which are 50 steps."""
