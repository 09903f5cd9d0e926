"""What a functional JAX environment looks like.

An environment is a frozen dataclass of its parameters with two pure functions. There is no
auto-reset inside: the learner resets, so that it sees the last observation of an episode and can
bootstrap where the episode was truncated.

A single-agent environment has no agent axis: `observation` is `(F,)`, `reward` and `terminated`
are scalars, `action` is a scalar, or a vector where the actions are several or real numbers. With
several agents, who share one policy, these become `(A, F)` and `(A,)`; `truncated` stays a scalar,
since the clock is the episode's. An agent that has `terminated` is dead and stays so, `terminated`
included, until the episode ends: its further actions are ignored and its rows are left out of the
loss.

Actions are a policy's own: choices counted from 0, or real vectors within the bounds.
"""

from typing import Any, NamedTuple, Protocol, runtime_checkable

from jaxtyping import Array, Bool, Float, Key

from crisptree.crisp.signature import Actions


class TimeStep(NamedTuple):
    state: Any
    observation: Float[Array, "*agents F"]
    reward: Float[Array, "*agents"]
    terminated: Bool[Array, "*agents"]
    truncated: Bool[Array, ""]


@runtime_checkable
class Simulation(Protocol):
    """The two pure functions alone; what is observed may be anything that JAX takes."""

    def reset(self, key: Key[Array, ""]) -> tuple[Any, Any]: ...

    def step(self, key: Key[Array, ""], state: Any, action: Array) -> TimeStep: ...


@runtime_checkable
class FunctionalEnv(Protocol):
    @property
    def n_agents(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def actions(self) -> Actions:
        """One agent's actions."""
        ...

    def reset(self, key: Key[Array, ""]) -> tuple[Any, Float[Array, "*agents F"]]:
        """A fresh episode: `(state, observation)`."""
        ...

    def step(self, key: Key[Array, ""], state: Any, action: Array) -> TimeStep:
        """One step. Never resets."""
        ...
