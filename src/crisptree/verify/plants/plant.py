"""A plant: what a user writes once about a system, to play in it and to prove things about it.

The equations are one function, `step(xp, state, action, disturbance)`, that returns the next state.
`xp` is the array module to compute with: `numpy` when the plant is played, `jax.numpy` in a JAX
program, crisptree's intervals or forms in a proof. Write `xp.sin`, `xp.where`, `xp.clip`, no
`if` on a state. A state is a sequence of columns, one a state variable; so is a disturbance. An
action is a whole number (discrete), or a sequence of columns (several choices, or a real vector).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError
from crisptree.base.text import printable
from crisptree.crisp.signature import Actions
from crisptree.envs.guard import guarded

Columns = Sequence[Any]
Step = Callable[[Any, Columns, Any, Columns], Sequence[Any]]
"""`step(xp, state, action, disturbance)`: the next state."""
Map = Callable[[Any, Columns], Sequence[Any]]
"""`map(xp, state)`: other numbers that follow from a state."""
Range = tuple[float, float]


def _put_state(env: Any, state: NDArray[np.float64]) -> None:
    env.unwrapped.state = np.array(state, np.float64)


def _get_state(env: Any) -> NDArray[np.float64]:
    return np.array(env.unwrapped.state, np.float64)


@dataclass(frozen=True)
class Plant:
    """The equations of a system, where it starts, and where an episode ends."""

    name: str
    step: Step
    states: Mapping[str, Range]
    """The state variables, each with the range in which episodes start."""
    actions: Actions
    features: Map | None = None
    """What the policy sees of a state; None: the state itself."""
    feature_names: tuple[str, ...] = ()
    outputs: Map | None = None
    """Further numbers that properties may speak of."""
    output_names: tuple[str, ...] = ()
    limits: Mapping[str, Range] = field(default_factory=dict)
    """An episode goes on while all these hold; names of states, features or outputs."""
    goal: Mapping[str, Range] = field(default_factory=dict)
    """An episode ends well once all these hold; empty if there is no such end."""
    disturbance: Mapping[str, Range] = field(default_factory=dict)
    """What may act on the system at each step, and within which bounds."""
    reward: Callable[[Any, Columns, Any, Columns], Any] | None = None
    """`reward(xp, state, action, next_state)`, for who trains in the plant."""
    max_steps: int | None = None
    observed_as: str = "float32"
    """The floats that features are rounded to before the policy sees them."""
    env_id: str | None = None
    """The environment that these equations describe."""
    put_state: Callable[[Any, NDArray[np.float64]], None] = _put_state
    """`put_state(env, state)` brings that environment into a state."""
    get_state: Callable[[Any], NDArray[np.float64]] = _get_state

    def __post_init__(self) -> None:
        for what in ("states", "limits", "goal", "disturbance"):
            for name, bounds in getattr(self, what).items():
                low, high = bounds
                if not low <= high:
                    raise CrisptreeError(
                        f"the plant {self.name}: {what} of {name!r} are {low} … {high}; the lower "
                        "bound comes first"
                    )
        for name, (low, high) in self.states.items():
            if not np.isfinite([low, high]).all():
                raise CrisptreeError(f"the plant {self.name}: {name!r} starts in no finite range")
        if self.features is None:
            object.__setattr__(self, "feature_names", tuple(self.states))
        known = self.quantities
        for name in (*self.limits, *self.goal):
            if name not in known:
                raise CrisptreeError(
                    f"the plant {self.name} has no {name!r}; it has {', '.join(known)}"
                )

    @property
    def state_names(self) -> tuple[str, ...]:
        return tuple(self.states)

    @property
    def quantities(self) -> tuple[str, ...]:
        """What properties may speak of: states, then features and outputs with other names."""
        return tuple(dict.fromkeys((*self.states, *self.feature_names, *self.output_names)))

    @property
    def reset_box(self) -> NDArray[np.float64]:
        """`(states, 2)`: where episodes start."""
        return np.array(list(self.states.values()), np.float64)

    @property
    def disturbance_box(self) -> NDArray[np.float64]:
        return np.array(list(self.disturbance.values()), np.float64).reshape(-1, 2)

    def box(self, bounds: Mapping[str, Range]) -> NDArray[np.float64]:
        """`(quantities, 2)`: bounds by name as a box, ±inf where nothing is said."""
        found = np.tile([-np.inf, np.inf], (len(self.quantities), 1))
        for name, pair in bounds.items():
            found[self.quantities.index(name)] = pair
        return found

    def observe(self, xp: Any, state: Columns) -> list[Any]:
        """What the policy sees, rounded as the environment rounds it."""
        seen = list(state) if self.features is None else list(self.features(xp, state))
        return [xp.float32(each) for each in seen] if self.observed_as == "float32" else seen

    def measure(self, xp: Any, state: Columns) -> list[Any]:
        """The quantities of a state, in the order of `quantities`."""
        found = dict(zip(self.states, state, strict=True))
        for of, names in ((self.features, self.feature_names), (self.outputs, self.output_names)):
            if of is not None:
                found |= {
                    name: value
                    for name, value in zip(names, of(xp, state), strict=True)
                    if name not in found
                }
        return list(found.values())

    def play(
        self, states: NDArray[np.float64], actions: NDArray, disturbances: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The states `(N, S)` one step on, in NumPy."""
        action = actions if actions.ndim == 1 else list(actions.T)
        columns = self.step(np, list(states.T), action, list(disturbances.T))
        n = len(states)
        return np.stack([np.broadcast_to(each, n).astype(np.float64) for each in columns], 1)

    def observations(self, states: NDArray[np.float64]) -> NDArray:
        """What the policy sees of the states `(N, S)`: `(N, F)`."""
        return np.stack(self.observe(np, list(states.T)), 1)

    def quantities_of(self, states: NDArray[np.float64]) -> NDArray[np.float64]:
        """`(N, quantities)` of the states `(N, S)`."""
        columns = self.measure(np, list(states.T))
        return np.stack([np.asarray(each, np.float64) for each in columns], 1)


EQUATIONS = "its equations, which must compute with xp in the place of NumPy"


def guarded_plant(plant: Plant) -> Plant:
    """A user's plant, whose mistakes become one line that names it."""

    def step(*given: Any) -> list[Any]:
        with guarded(plant.name, EQUATIONS, "plant"):
            after = list(plant.step(*given))
        if len(after) != len(plant.states):
            raise CrisptreeError(
                f"the plant '{printable(plant.name)}' has {len(plant.states)} states, and its "
                f"step returned {len(after)}"
            )
        return after

    return replace(
        plant, step=step, features=_own(plant.features, plant), outputs=_own(plant.outputs, plant)
    )


def _own(map_: Map | None, plant: Plant) -> Map | None:
    def call(*given: Any) -> list[Any]:
        assert map_ is not None
        with guarded(plant.name, EQUATIONS, "plant"):
            return list(map_(*given))

    return None if map_ is None else call
