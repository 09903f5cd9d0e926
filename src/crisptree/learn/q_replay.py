"""Experience that is learned from again: a ring of rounds inside the agent."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from crisptree.base.errors import CrisptreeError
from crisptree.learn.rollout import Rollout


class Transitions(NamedTuple):
    """(s, a, r, s', terminated) in raw units; `mask` is false where nobody acted."""

    observation: Float[Array, "*rows F"]
    action: Int[Array, "*rows"]
    reward: Float[Array, "*rows"]
    next_observation: Float[Array, "*rows F"]
    terminated: Bool[Array, "*rows"]
    mask: Bool[Array, "*rows"]


def transitions(rollout: Rollout) -> Transitions:
    """The rows of a rollout, all times in one."""
    parts = [getattr(rollout, name) for name in Transitions._fields]
    return Transitions(*(part.reshape(-1, *part.shape[2:]) for part in parts))


class Replay(eqx.Module):
    """Whole rounds are written, so no write wraps around; single rows are drawn."""

    rows: Transitions
    """One slot a round: `(slots, rows, …)`."""
    count: Int[Array, ""]
    """Rounds written so far."""

    @staticmethod
    def empty(memory: int, rows: int, n_features: int) -> "Replay":
        """Room for `memory` rows, in whole rounds of `rows`."""
        slots = memory // rows
        if slots < 1:
            raise CrisptreeError(f"memory ({memory}) must hold at least one round ({rows} rows)")
        shape = (slots, rows)
        return Replay(
            Transitions(
                observation=jnp.zeros((*shape, n_features)),
                action=jnp.zeros(shape, jnp.int32),
                reward=jnp.zeros(shape),
                next_observation=jnp.zeros((*shape, n_features)),
                terminated=jnp.zeros(shape, bool),
                mask=jnp.zeros(shape, bool),
            ),
            jnp.zeros((), jnp.int32),
        )

    def with_round(self, fresh: Transitions) -> "Replay":
        """The replay after a round, which takes the place of the oldest once all slots are full."""
        slots = self.rows.action.shape[0]
        rows = jax.tree.map(lambda old, new: old.at[self.count % slots].set(new), self.rows, fresh)
        return Replay(rows, self.count + 1)

    def sample(self, key: Key[Array, ""], n: int) -> Transitions:
        """`n` rows drawn uniformly from those written, with replacement."""
        slots, rows = self.rows.action.shape
        written = jnp.minimum(self.count, slots) * rows
        drawn = jax.random.randint(key, (n,), 0, written)
        return jax.tree.map(lambda part: part[drawn // rows, drawn % rows], self.rows)
