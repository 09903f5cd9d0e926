"""Plants that misbehave: a user's own module, which the tests copy to the working folder."""

import sys
from dataclasses import replace
from typing import Any

from crisptree.verify.plants.classic import CART_POLE

OK = replace(CART_POLE, name="ok", env_id=None)


def raises(xp, state, action, disturbance) -> Any:
    raise RuntimeError("the plant\nburned \x1b[31m")


def exits(xp, state, action, disturbance) -> Any:
    sys.exit(0)


def talks(xp, state, action, disturbance) -> Any:
    print("hello from the plant")
    return CART_POLE.step(xp, state, action, disturbance)


def branches(xp, state, action, disturbance) -> Any:
    return [each if each > 0 else -each for each in state]


def recurses(xp, state, action, disturbance) -> Any:
    return recurses(xp, state, action, disturbance)


def fails_late(xp, state, action, disturbance) -> Any:
    """With one state, as it is tried out, but not with many."""
    if getattr(state[0], "size", 2) > 1:
        raise ZeroDivisionError("late")
    return CART_POLE.step(xp, state, action, disturbance)


def _steps(**made: Any) -> dict[str, Any]:
    return {name: replace(OK, name=name, step=step) for name, step in made.items()}


BAD = _steps(
    raises=raises,
    exits=exits,
    branches=branches,
    recurses=recurses,
    fails_late=fails_late,
    unknown=lambda xp, state, action, disturbance: [xp.erf(each) for each in state],
    short=lambda xp, state, action, disturbance: state[:2],
    nothing=lambda xp, state, action, disturbance: None,
    text=lambda xp, state, action, disturbance: "four",
)
globals().update(BAD)
prints = replace(OK, name="prints", step=talks)
not_a_number = replace(OK, step=lambda xp, state, *_: [each * float("nan") for each in state])
huge = replace(OK, step=lambda xp, state, *_: [each * 1e300 + 1e308 for each in state])
blind = replace(OK, features=lambda xp, state: 1 / 0)
NO_PLANT = 7
