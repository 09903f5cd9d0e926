"""How far a training has come: what step sizes, entropy and steepness follow.

Progress goes from 0 to 1. Each update brings it on by `1 / n_updates`, or by several times as much
once returns have risen and no longer rise: an easy task is then learned in fewer updates.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

Number = float | Float[Array, ""]

WINDOW = 8
RETURNS = 150
"""A training's updates are taken together into so many returns at most: what counts as flat is a
share of the training, not a number of updates."""
STILL_RISING = 0.02
"""Returns rise if the last `WINDOW` are better than those before by this share of all progress."""
DOUBT = 2.0
"""Standard errors by which that may be wrong: noisy returns must be flat for certain."""
CLEARLY = 2.0
"""Returns have risen if the best left the first by so many times what they jump from one to the
next."""


class Schedule(eqx.Module):
    """Where a training stands, with the last returns. All of it is part of a learner's state."""

    update: Int[Array, ""]
    n_updates: Int[Array, ""]
    """Updates of a training at the plain pace."""
    pace_sum: Float[Array, ""]
    """Updates so far, each counted as often as its pace says."""
    pending_sum: Float[Array, ""]
    """The mean returns of updates that are not yet taken together, summed."""
    n_pending: Int[Array, ""]
    recent: Float[Array, "window"]
    """The last `2 · WINDOW` returns, oldest first; each is that of several updates."""
    n_returns: Int[Array, ""]
    first: Float[Array, ""]
    """The mean of the first `WINDOW` returns."""
    best: Float[Array, ""]
    """The best mean of `WINDOW` returns in a row."""
    jump: Float[Array, ""]
    """The greatest typical jump from one return to the next, within `WINDOW` returns in a row."""

    @staticmethod
    def start(n_updates: int) -> "Schedule":
        """A training of `n_updates` updates at the plain pace, at its start."""
        zero = jnp.zeros(())
        return Schedule(
            update=jnp.zeros((), jnp.int32),
            n_updates=jnp.asarray(n_updates, jnp.int32),
            pace_sum=zero,
            pending_sum=zero,
            n_pending=jnp.zeros((), jnp.int32),
            recent=jnp.zeros(2 * WINDOW),
            n_returns=jnp.zeros((), jnp.int32),
            first=zero,
            best=zero,
            jump=zero,
        )

    @property
    def fraction(self) -> Float[Array, "*seeds"]:
        """From 0 to 1."""
        return jnp.minimum(self.pace_sum / self.n_updates, 1.0)

    @property
    def is_done(self) -> Bool[Array, "*seeds"]:
        return self.pace_sum >= self.n_updates

    @property
    def is_flat(self) -> Bool[Array, "*seeds"]:
        """Whether returns have stayed where they were at first, as far as can be told."""
        return (self.n_returns >= 2 * WINDOW) & ~self.has_risen

    @property
    def has_risen(self) -> Bool[Array, "*seeds"]:
        """Whether returns have clearly left where they were at first."""
        return (self.n_returns >= 2 * WINDOW) & (self.best - self.first > CLEARLY * self.jump)

    @property
    def on_plateau(self) -> Bool[Array, ""]:
        """Whether returns have risen and no longer rise."""
        before, last = self.recent[:WINDOW].mean(), self.recent[WINDOW:].mean()
        noise = jnp.sqrt(jnp.square(jnp.diff(self.recent)).mean() / WINDOW)
        rises = last - before + DOUBT * noise > STILL_RISING * (self.best - self.first)
        return self.has_risen & ~rises

    def after_update(self, mean_return: Float[Array, ""], plateau_speedup: Number) -> "Schedule":
        """One update later. `mean_return` is that of the episodes that ended; NaN if none did."""
        noted = self._with_return(mean_return)
        pace = jnp.where(noted.on_plateau, plateau_speedup, 1.0)
        return eqx.tree_at(
            lambda p: (p.update, p.pace_sum), noted, (self.update + 1, self.pace_sum + pace)
        )

    @property
    def updates_per_return(self) -> Int[Array, ""]:
        """How many updates are taken together into one return."""
        return -(-self.n_updates // RETURNS)

    def _with_return(self, mean_return: Float[Array, ""]) -> "Schedule":
        """With the return of one more update, if it is a number."""
        ended = ~jnp.isnan(mean_return)
        total = self.pending_sum + jnp.where(ended, mean_return, 0.0)
        n_pending = self.n_pending + ended
        is_whole = ended & (n_pending >= self.updates_per_return)
        noted = self._with_whole_return(total / jnp.maximum(n_pending, 1), is_whole)
        pending = (jnp.where(is_whole, 0.0, total), jnp.where(is_whole, 0, n_pending))
        return eqx.tree_at(lambda s: (s.pending_sum, s.n_pending), noted, pending)

    def _with_whole_return(
        self, mean_return: Float[Array, ""], is_new: Bool[Array, ""]
    ) -> "Schedule":
        recent = jnp.append(self.recent[1:], mean_return)
        n_returns = self.n_returns + 1
        last = recent[WINDOW:]
        # Falls are noise, rises need not be: half of the jumps of mere noise are falls.
        mean, jump = last.mean(), jnp.sqrt(jnp.square(jnp.minimum(jnp.diff(last), 0)).mean())
        full, is_first = n_returns >= WINDOW, n_returns == WINDOW
        noted = (
            recent,
            n_returns,
            jnp.where(is_first, mean, self.first),
            jnp.where(full & (is_first | (mean > self.best)), mean, self.best),
            jnp.where(full, jnp.maximum(self.jump, jump), self.jump),
        )
        fields = lambda p: (p.recent, p.n_returns, p.first, p.best, p.jump)
        kept = [jnp.where(is_new, new, old) for new, old in zip(noted, fields(self), strict=True)]
        return eqx.tree_at(fields, self, tuple(kept))


class Scheduled(eqx.Module):
    """A learner's state that has a schedule. Stacked along a first axis it is several seeds."""

    schedule: eqx.AbstractVar[Schedule]

    @property
    def update(self) -> Int[Array, "*seeds"]:
        return self.schedule.update

    @property
    def n_updates(self) -> Int[Array, "*seeds"]:
        return self.schedule.n_updates

    @property
    def progress(self) -> Float[Array, "*seeds"]:
        """From 0 to 1, where the training ends."""
        return self.schedule.fraction


def interpolate(
    start: Number, end: Number, fraction: Float[Array, "*seeds"]
) -> Float[Array, "*seeds"]:
    """Linear from `start` at 0 to `end` at 1."""
    return start + (end - start) * fraction
