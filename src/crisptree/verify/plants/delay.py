"""A plant whose actions arrive one step late."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from crisptree.verify.plants.plant import Columns, Plant


def delayed(plant: Plant) -> Plant:
    """The plant where the action of a step is the one chosen at the step before.

    What was chosen last is part of the state. At the start it may be anything.
    """
    count = len(plant.states)
    is_discrete = plant.actions.kind == "discrete"

    def step(xp: Any, state: Columns, action: Any, disturbance: Columns) -> Columns:
        waiting = state[count] if is_discrete else list(state[count:])
        chosen = [action] if is_discrete else list(action)
        return (*plant.step(xp, state[:count], waiting, disturbance), *chosen)

    def seen(xp: Any, state: Columns) -> Columns:
        return state[:count] if plant.features is None else plant.features(xp, state[:count])

    def outputs(xp: Any, state: Columns) -> Columns:
        return () if plant.outputs is None else plant.outputs(xp, state[:count])

    return replace(
        plant,
        name=f"{plant.name}, one step late",
        step=step,
        states={**plant.states, **_pending(plant)},
        features=seen,
        feature_names=plant.feature_names,
        outputs=outputs,
        env_id=None,
    )


def _pending(plant: Plant) -> Mapping[str, tuple[float, float]]:
    """The waiting actions as states, with all values they can have."""
    actions = plant.actions
    if actions.kind == "discrete":
        return {"the waiting action": (0.0, len(actions.names) - 1.0)}
    if actions.kind == "multi_discrete":
        return {
            f"the waiting {name}": (0.0, len(choices) - 1.0)
            for name, choices in zip(actions.names, actions.choices, strict=True)
        }
    return {
        f"the waiting {name}": (low, high)
        for name, low, high in zip(actions.names, actions.low, actions.high, strict=True)
    }
