"""The chain MDP of §5 in JAX.

States 1 … n, the first and the last terminal. Action 0 is the paper's a1 (right), action 1 its a2
(left); a move goes the way of its action with probability p, else the other way. The observation
is the state's index.

The paper pays R(s) for every time step spent in s, the first one included. A learner is paid for
what its action brought about, so here the reward of a step is R of the state it leads to. With
G the discounted return, the paper's value is V(s0) = R(s0) + γ G: the same policies are optimal,
and the policy-gradient update is γ times that of G.
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from crisptree.base.errors import CrisptreeError
from crisptree.crisp.signature import Actions
from crisptree.envs.functional import TimeStep


class ChainState(NamedTuple):
    position: Int[Array, ""]
    time: Int[Array, ""]
    """Time steps so far, the one at the start included."""


@dataclass(frozen=True)
class Chain:
    n: int = 4
    istar: int = 2
    """i*: it and its right neighbour pay r+."""
    p: float = 1.0
    r_plus: float = 1.0
    r_minus: float = -1.0
    horizon: int = 4
    """Time steps of an episode, the one at the start included: `horizon - 1` moves."""
    start: int | None = None
    """Where an episode starts; None for i* or i*+1 with equal chance."""

    def __post_init__(self) -> None:
        if self.n < 4 or not 1 < self.istar < self.n - 1:
            raise CrisptreeError(
                f"n is {self.n} and istar is {self.istar}; n must be 4 or more, "
                "istar between 2 and n - 2"
            )
        if not 0 <= self.p <= 1:
            raise CrisptreeError(f"p is {self.p}; a probability lies between 0 and 1")
        if self.horizon < 2:
            raise CrisptreeError(f"horizon is {self.horizon}; one move takes 2 time steps")
        if self.start is not None and not 1 < self.start < self.n:
            raise CrisptreeError(
                f"start is {self.start}; it must not be terminal: 2 to {self.n - 1}"
            )

    @property
    def n_agents(self) -> int:
        return 1

    @property
    def n_features(self) -> int:
        return 1

    @property
    def actions(self) -> Actions:
        return Actions.discrete(("a1", "a2"))

    def reset(self, key: Key[Array, ""]) -> tuple[ChainState, Float[Array, "1"]]:
        if self.start is None:
            position = self.istar + jax.random.bernoulli(key).astype(jnp.int32)
        else:
            position = jnp.asarray(self.start, jnp.int32)
        return ChainState(position, jnp.ones((), jnp.int32)), observe(position)

    def step(self, key: Key[Array, ""], state: ChainState, action: Int[Array, ""]) -> TimeStep:
        as_meant = jax.random.bernoulli(key, self.p)
        position = state.position + jnp.where((action == 0) == as_meant, 1, -1)
        time = state.time + 1
        terminated = (position == 1) | (position == self.n)
        rewarded = (position == self.istar) | (position == self.istar + 1)
        reward = jnp.where(terminated, self.r_minus, jnp.where(rewarded, self.r_plus, 0.0))
        return TimeStep(
            state=ChainState(position, time),
            observation=observe(position),
            reward=reward,
            terminated=terminated,
            truncated=time >= self.horizon,
        )


def observe(position: Int[Array, ""]) -> Float[Array, "1"]:
    return position.astype(jnp.float32)[None]
