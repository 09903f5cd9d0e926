"""Counterexamples one more time: in the environment itself, and models that disagree with it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.verify.claims import Judge
from crisptree.verify.falsify import Counterexample, beyond
from crisptree.verify.loop import Loop
from crisptree.verify.plants.plant import Plant

CLOSE = 1e-6
"""How far a model and its environment may lie apart after a step, relative to the state's size."""


def environment(plant: Plant) -> Any:
    """The environment that a plant describes, without a limit of time."""
    if plant.env_id is None:
        raise CrisptreeError(f"the plant {plant.name} names no environment")
    import gymnasium

    return gymnasium.make(plant.env_id, disable_env_checker=True).unwrapped


def replayed(loop: Loop, judge: Judge, found: Counterexample) -> str:
    """What is said of where a counterexample was replayed; an environment that does something else
    than the plant is an error."""
    plant = judge.plant
    if plant.env_id is None or found.acting.size or judge.claim.delay:
        return f", replayed in the plant {plant.name}"
    states = episode(loop.tree, plant, found.states[0], len(found.states) - 1)
    values = plant.quantities_of(states)
    kind = judge.claim.kind
    if kind == "reaches":
        arrived = beyond(values, judge.claim.region) <= 0
        fine = not arrived.any()
    else:
        outside = beyond(values, judge.claim.region) > 0
        fine = bool(outside[-1]) or bool((beyond(values, plant.box(plant.limits)) > 0).any())
    if not fine:
        raise CrisptreeError(
            f"from {np.round(found.states[0], 6).tolist()} the plant {plant.name} breaks the "
            f"claim, but {plant.env_id} does not: the model disagrees with its environment"
        )
    return f", replayed in gymnasium's {plant.env_id}"


def episode(
    tree: CrispTree, plant: Plant, start: NDArray[np.float64], steps: int
) -> NDArray[np.float64]:
    """The states that the environment itself goes through, until it ends the episode or the steps
    are done; the first is the start."""
    env = environment(plant)
    env.reset(seed=0)
    plant.put_state(env, start)
    states = [np.array(start, np.float64)]
    seen = plant.observations(states[0][None])[0]
    for _ in range(steps):
        action = tree.predict(seen)[0]
        seen, _, terminated, _, _ = env.step(action)
        states.append(plant.get_state(env))
        if terminated:
            break
    env.close()
    return np.stack(states)


def disagreement(plant: Plant, steps: int = 200, seed: int = 0) -> str | None:
    """How a plant differs from its environment, in one sentence; None if steps agree.

    Random actions are taken in the environment; each of its steps is taken by the plant too, from
    the same state. A plant with disturbances must come close to the environment's next state with
    some disturbance within its bounds; here the bounds' hull is compared.
    """
    env = environment(plant)
    rng = np.random.default_rng(seed)
    env.reset(seed=seed)
    env.action_space.seed(seed)
    for step in range(steps):
        before = plant.get_state(env)
        action = env.action_space.sample()
        seen, _, terminated, _, _ = env.step(action)
        after = plant.get_state(env)
        own = (
            action - int(getattr(env.action_space, "start", 0)) if np.ndim(action) == 0 else action
        )
        acting = plant.disturbance_box
        count = 1 + 64 * bool(len(acting))
        drawn = rng.uniform(acting[:, 0], acting[:, 1], (count, len(acting)))
        drawn[: min(count, 2)] = acting.T[: min(count, 2)]
        next_ = plant.play(np.tile(before, (count, 1)), np.array([own] * count), drawn)
        low, high = next_.min(axis=0), next_.max(axis=0)
        room = CLOSE * (1 + np.abs(after))
        apart = (after < low - room) | (after > high + room)
        if apart.any():
            at = int(np.argmax(apart))
            return (
                f"after step {step + 1} the environment has {plant.state_names[at]} "
                f"{after[at]:.9g}, the plant {next_[0, at]:.9g}"
            )
        shown = plant.observations(after[None])[0]
        if not np.allclose(seen, shown, rtol=1e-6, atol=1e-6):
            at = int(np.argmax(np.abs(seen - shown)))
            return (
                f"the environment shows {plant.feature_names[at]} {seen[at]:.9g}, the plant "
                f"{shown[at]:.9g}"
            )
        if terminated:
            env.reset(seed=seed + step)
    env.close()
    return None
