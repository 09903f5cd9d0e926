"""A replay buffer inside a learner's state: a ring of transitions."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from crisptree.base.errors import CrisptreeError
from crisptree.learn.config import LearnConfig
from crisptree.learn.trajectory import NEXT, Trajectory


class Transitions(NamedTuple):
    """(s, a, r, s', terminated) in raw units; `mask` is false where nobody acted."""

    observation: Float[Array, "*rows F"]
    action: Int[Array, "..."] | Float[Array, "..."]
    reward: Float[Array, "*rows"]
    next_observation: Float[Array, "*rows F"]
    terminated: Bool[Array, "*rows"]
    mask: Bool[Array, "*rows"]


def transitions(trajectory: Trajectory) -> Transitions:
    """The steps of a trajectory, all times in one."""
    return Transitions(*trajectory.rows(*Transitions._fields))


def with_moments(state: Any, trajectory: Trajectory, config: LearnConfig) -> Any:
    """A learner's state with a trajectory in its moments and counts, and with a fresh key."""
    observations, returns = state.observations, state.returns
    if config.normalize_observations:
        observations = observations.with_batch(*trajectory.rows("observation", "mask"))
    if config.normalize_rewards:
        returns = returns.with_batch(*trajectory.rows("discounted_return", "mask"))
    key = jax.random.fold_in(state.key, NEXT)
    n_transitions = state.n_transitions + trajectory.mask.sum()
    return eqx.tree_at(
        lambda s: (s.observations, s.returns, s.key, s.n_transitions),
        state,
        (observations, returns, key, n_transitions),
    )


class Replay(eqx.Module):
    """The last `size` transitions."""

    rows: Transitions
    n_written: Int[Array, ""]
    """Transitions written so far."""

    @staticmethod
    def empty(size: int, n_features: int, action: Array) -> "Replay":
        """Room for `size` transitions whose actions look like `action`."""
        return Replay(
            Transitions(
                observation=jnp.zeros((size, n_features)),
                action=jnp.zeros((size, *action.shape), action.dtype),
                reward=jnp.zeros(size),
                next_observation=jnp.zeros((size, n_features)),
                terminated=jnp.zeros(size, bool),
                mask=jnp.zeros(size, bool),
            ),
            jnp.zeros((), jnp.int32),
        )

    @property
    def size(self) -> int:
        return self.rows.reward.shape[0]

    def with_transitions(self, fresh: Transitions) -> "Replay":
        """The buffer after `fresh`, which take the place of the oldest once it is full."""
        n = fresh.reward.shape[0]
        if n > self.size:
            raise CrisptreeError(
                f"buffer_size ({self.size}) must hold the {n} transitions of an update"
            )
        at = (self.n_written + jnp.arange(n)) % self.size
        rows = jax.tree.map(lambda old, new: old.at[at].set(new), self.rows, fresh)
        return Replay(rows, self.n_written + n)

    def sample(self, key: Key[Array, ""], n: int) -> Transitions:
        """`n` transitions drawn uniformly from those in the buffer, with replacement."""
        drawn = jax.random.randint(key, (n,), 0, jnp.minimum(self.n_written, self.size))
        return jax.tree.map(lambda part: part[drawn], self.rows)


def without_replay(states: Any) -> Any:
    """Stacked learners with one transition left in each buffer: enough to act, small to keep."""
    if not hasattr(states, "replay"):
        return states
    shortened = jax.tree.map(lambda part: part[:, :1], states.replay.rows)
    return eqx.tree_at(lambda s: s.replay.rows, states, shortened)
