"""How far a training has come: what step sizes, entropy and steepness follow.

Progress goes from 0 to 1. Each update brings it on by `1 / n_updates`. Once returns have risen and
no longer rise, it goes faster, the more the less doubt there is: an easy task is learned in fewer
updates. While returns clearly rise in the second half, it goes slower: a hard task gets more of
them.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

Number = float | Float[Array, ""]

WINDOW = 8
RETURNS, SO_FAR = 150, 48
"""The episodes of several updates are averaged into one return: `RETURNS` returns in a whole
training, but at least `SO_FAR` in the updates so far, so that early learning is seen early."""
FLAT = 0.015
"""Returns are flat if the last `WINDOW` differ from the `WINDOW` before by less than this share of
the whole rise."""
DOUBT = 2.0
"""Standard errors that are added to the difference, since noise could hide a rise."""
CERTAIN = 0.005
"""Returns that move by less than this share of the whole rise are certainly flat."""
SOON = 2.0
"""Where returns are certainly flat, the schedule runs so fast that all of it would pass in
1 / `SOON` as many updates as were made so far."""
WAITS_FROM, WAITING = 0.5, 0.25
"""From this progress on, an update in which returns clearly rise counts for this share of one."""
RISING = 0.03
"""Returns clearly rise if the last `WINDOW` exceed the `WINDOW` before by this share of the whole
rise, and by `DOUBT` standard errors."""
CLEARLY = 2.0
"""Returns have risen if the best exceeds the first by this many times the typical fall from one
return to the next."""


class Schedule(eqx.Module):
    """Where a training stands, with the last returns. All of it is part of a learner's state."""

    update: Int[Array, ""]
    n_updates: Int[Array, ""]
    """Updates of a training at the plain pace."""
    pace_sum: Float[Array, ""]
    """Updates so far, each counted as often as its pace says."""
    pending_sum: Float[Array, ""]
    """The sum of returns of episodes that are not yet averaged."""
    pending_episodes: Float[Array, ""]
    pending_updates: Int[Array, ""]
    """In how many updates they ended; in some, none did."""
    recent: Float[Array, "window"]
    """The last `2 · WINDOW` returns, oldest first; each is that of several updates."""
    n_returns: Int[Array, ""]
    first: Float[Array, ""]
    """The mean of the first `WINDOW` returns."""
    best: Float[Array, ""]
    """The best mean of `WINDOW` returns in a row."""
    best_fall: Float[Array, ""]
    """The typical fall from one return to the next among these. Falls are noise, rises need not be:
    half of the jumps of mere noise are falls."""
    falls: Float[Array, ""]
    """The sum of the squares of all falls."""

    @staticmethod
    def start(n_updates: int | Int[Array, ""]) -> "Schedule":
        """A training of `n_updates` updates at the plain pace, at its start."""
        zero = jnp.zeros(())
        return Schedule(
            update=jnp.zeros((), jnp.int32),
            n_updates=jnp.asarray(n_updates, jnp.int32),
            pace_sum=zero,
            pending_sum=zero,
            pending_episodes=zero,
            pending_updates=jnp.zeros((), jnp.int32),
            recent=jnp.zeros(2 * WINDOW),
            n_returns=jnp.zeros((), jnp.int32),
            first=zero,
            best=zero,
            best_fall=zero,
            falls=zero,
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
        """Whether returns have not clearly risen since the start."""
        return (self.n_returns >= 2 * WINDOW) & ~self.has_risen

    @property
    def has_risen(self) -> Bool[Array, "*seeds"]:
        """Whether returns have clearly risen since the start."""
        # A rare success is no rise: its own fall is as large. Wild returns at the start count for
        # no more than their share of all.
        typical = jnp.sqrt(self.falls / jnp.maximum(self.n_returns - 1, 1))
        fall = jnp.maximum(typical, self.best_fall)
        return (self.n_returns >= 2 * WINDOW) & (self.best - self.first > CLEARLY * fall)

    def pace(self, plateau_speedup: Number, longest: Number = 1.0) -> Float[Array, ""]:
        """How many updates the next one counts for: one; `plateau_speedup` once returns have risen
        and are flat; more if they are certainly flat; less while they clearly rise, in the second
        half of a training that has not taken `longest` times its updates yet."""
        before, last = self.recent[:WINDOW].mean(), self.recent[WINDOW:].mean()
        noise = jnp.sqrt(jnp.square(jnp.diff(self.recent)).mean() / WINDOW)
        moved, progress = jnp.abs(last - before) + DOUBT * noise, self.best - self.first
        rises = last - before > jnp.maximum(DOUBT * noise, RISING * progress)
        is_late = (self.fraction >= WAITS_FROM) & (self.update < longest * self.n_updates)
        waits = self.has_risen & rises & is_late & (longest > 1)
        certainty = CERTAIN * progress / jnp.maximum(moved, 1e-9 * progress)
        most = jnp.maximum(plateau_speedup, SOON * self.n_updates / (self.update + 1))
        pace = jnp.clip(plateau_speedup * certainty, plateau_speedup, most)
        is_flat = self.has_risen & (moved <= FLAT * progress) & (plateau_speedup > 1)
        return jnp.where(waits, WAITING, jnp.where(is_flat, pace, 1.0))

    def after_update(
        self,
        return_sum: Number,
        n_episodes: Number,
        plateau_speedup: Number,
        longest: Number = 1.0,
    ) -> "Schedule":
        """One update later, in which `n_episodes` ended with returns of this sum."""
        noted = self._with_episodes(return_sum, n_episodes)
        pace = noted.pace(plateau_speedup, longest)
        return eqx.tree_at(
            lambda p: (p.update, p.pace_sum), noted, (self.update + 1, self.pace_sum + pace)
        )

    @property
    def updates_per_return(self) -> Int[Array, ""]:
        """How many updates are taken together into one return."""
        return jnp.clip(self.update // SO_FAR, 1, -(-self.n_updates // RETURNS))

    def _with_episodes(self, return_sum: Number, n_episodes: Number) -> "Schedule":
        total, episodes = self.pending_sum + return_sum, self.pending_episodes + n_episodes
        updates = self.pending_updates + 1
        is_whole = (episodes > 0) & (updates >= self.updates_per_return)
        noted = self._with_return(total / jnp.maximum(episodes, 1), is_whole)
        fields = lambda s: (s.pending_sum, s.pending_episodes, s.pending_updates)
        pending = [jnp.where(is_whole, 0, value) for value in (total, episodes, updates)]
        return eqx.tree_at(fields, noted, tuple(pending))

    def _with_return(self, mean_return: Float[Array, ""], is_new: Bool[Array, ""]) -> "Schedule":
        recent = jnp.append(self.recent[1:], mean_return)
        n_returns = self.n_returns + 1
        last = recent[WINDOW:]
        mean, falls = last.mean(), jnp.square(jnp.minimum(jnp.diff(last), 0))
        full, is_first = n_returns >= WINDOW, n_returns == WINDOW
        is_best = full & (is_first | (mean >= self.best))
        noted = (
            recent,
            n_returns,
            jnp.where(is_first, mean, self.first),
            jnp.where(is_best, mean, self.best),
            jnp.where(is_best, jnp.sqrt(falls.mean()), self.best_fall),
            self.falls + jnp.where(n_returns > 1, falls[-1], 0),
        )
        fields = lambda p: (p.recent, p.n_returns, p.first, p.best, p.best_fall, p.falls)
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
