"""Policies in seeded episodes, side by side. No JAX here; `rollout` chooses the environments."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from crisptree.crisp import CrispTree
from crisptree.envs.episodes import EpisodeBatch, EpisodeStep
from crisptree.envs.forest import Forest
from crisptree.envs.policy import Policy


@dataclass(frozen=True)
class Rollouts:
    """What P policies did in E episodes each; the same seeds for every policy.

    With `record`, N rows say what was seen and done, ordered by policy, episode, time and agent.
    Agents that are out have no rows.
    """

    returns: np.ndarray  # (P, E) float64
    lengths: np.ndarray  # (P, E) int64: steps
    terminated: np.ndarray  # (P, E) bool: how an episode ended; else it was truncated
    was_cut: np.ndarray  # (P, E) bool: stopped at a limit though it was not over
    observations: np.ndarray | None = None  # (N, F) float32
    actions: np.ndarray | None = None  # (N,) or (N, parts) int64, or (N, dims) float64
    rewards: np.ndarray | None = None  # (N,) float64: the step's, a team's in every agent's row
    policy: np.ndarray | None = None  # (N,) int64
    episode: np.ndarray | None = None  # (N,) int64
    time: np.ndarray | None = None  # (N,) int64: 0 for the first decision
    agent: np.ndarray | None = None  # (N,) int64
    final_observations: np.ndarray | None = None  # (P, E, A, F) float32: where episodes ended

    @property
    def cut(self) -> int:
        """How many episodes were stopped at a limit (of steps, or of time) though they were not
        over."""
        return int(self.was_cut.sum())


class Players:
    """All policies behind one call: crisp trees are routed together."""

    def __init__(self, policies: Sequence[Policy | CrispTree]) -> None:
        trees = [policy for policy in policies if isinstance(policy, CrispTree)]
        self._forest = Forest(trees) if len(trees) == len(policies) else None
        self._policies = policies

    def act(self, player: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """What policy `player[i]` does at `rows[i]`."""
        if self._forest is not None:
            return self._forest.act(player, rows)
        parts = [np.flatnonzero(player == number) for number in range(len(self._policies))]
        order = np.concatenate(parts)
        chosen = [
            np.asarray(policy.act(rows[mine]))
            for policy, mine in zip(self._policies, parts, strict=True)
            if len(mine)
        ]
        found = np.concatenate(chosen)
        found[order] = found.copy()
        return found


class Recording:
    """Rows of what was seen and done, in the order in which it happened."""

    NAMES = ("observations", "actions", "rewards", "policy", "episode", "time", "agent")

    def __init__(self) -> None:
        self._rows: list[tuple[np.ndarray, ...]] = []

    def add(self, *columns: np.ndarray) -> None:
        self._rows.append(columns)

    def columns(self) -> dict[str, np.ndarray]:
        """All rows, ordered by policy, episode, time and agent."""
        if not self._rows:
            return dict.fromkeys(self.NAMES, np.zeros(0))
        joined = [np.concatenate(parts) for parts in zip(*self._rows, strict=True)]
        found = dict(zip(self.NAMES, joined, strict=True))
        order = np.lexsort([found[name] for name in ("agent", "time", "episode", "policy")])
        return {name: column[order] for name, column in found.items()}


OnEpisode = Callable[[int], None]
"""Called with the number of episodes that have ended."""
OnStep = Callable[[np.ndarray, np.ndarray], None]
"""Called with the slots that have a new observation, and the numbers of their episodes."""


class Play:
    """One episode for each policy and seed, in the slots of a batch.

    Episodes are numbered: policy 0 with every seed, then policy 1, and so on.
    """

    def __init__(
        self,
        batch: EpisodeBatch,
        policies: Sequence[Policy | CrispTree],
        seeds: Sequence[int],
        limit: int,
        recording: Recording | None = None,
        on_step: OnStep | None = None,
        deadline: float | None = None,
    ) -> None:
        self._batch, self._players, self._seeds = batch, Players(policies), seeds
        self._limit, self._recording, self._on_step = limit, recording, on_step
        self._deadline = math.inf if deadline is None else deadline
        self._shape = len(policies), len(seeds)
        self._n = n = len(policies) * len(seeds)
        self._returns, self._lengths = np.zeros(n), np.zeros(n, np.int64)
        self._terminated, self._was_cut = np.zeros(n, bool), np.zeros(n, bool)
        self._final: dict[int, np.ndarray] = {}
        slots = batch.n_slots
        self._running = np.full(slots, -1)  # the number of the episode in each slot; -1: none
        self._rows = np.empty((slots, 0, 0), np.float32)  # (slots, A, F), once the first are known
        self._alive = np.empty((slots, 0), bool)  # (slots, A)
        self._begun = 0

    def run(self, on_episode: OnEpisode | None = None) -> Rollouts:
        """Play until all episodes are over."""
        finished = 0
        while finished < self._n:
            self._start()
            ended = self._step()
            finished += ended
            if ended and on_episode is not None:
                on_episode(finished)
            if time.monotonic() >= self._deadline:
                self._stop()
                break
        results = (self._returns, self._lengths, self._terminated, self._was_cut)
        results = (part.reshape(self._shape) for part in results)
        if self._recording is None:
            return Rollouts(*results)
        final = np.stack([self._final[i] for i in range(self._n)])
        return Rollouts(
            *results,
            **self._recording.columns(),
            final_observations=final.reshape(*self._shape, *final.shape[1:]),
        )

    def _stop(self) -> None:
        """Mark the episodes that still run, or never began, as cut."""
        slots = np.flatnonzero(self._running >= 0)
        unfinished = [*self._running[slots].tolist(), *range(self._begun, self._n)]
        self._was_cut[unfinished] = True
        if self._recording is not None:
            blank = np.zeros_like(self._rows[0])
            self._final.update((number, blank) for number in range(self._begun, self._n))
            self._final.update((int(self._running[slot]), self._rows[slot]) for slot in slots)

    def _start(self) -> None:
        """Begin new episodes in idle slots."""
        idle = np.flatnonzero(self._running < 0)[: self._n - self._begun]
        waits = self._batch.starts_together and (self._running >= 0).any()
        if not len(idle) or waits:
            return
        episodes = np.arange(self._begun, self._begun + len(idle))
        self._begun += len(idle)
        self._running[idle] = episodes
        seeds = [int(self._seeds[i % len(self._seeds)]) for i in episodes.tolist()]
        first = self._batch.start(idle, seeds)
        rows = first.reshape(len(idle), -1, first.shape[1])
        if not self._rows.size:
            self._rows = np.zeros((len(self._running), *rows.shape[1:]), np.float32)
            self._alive = np.zeros(self._rows.shape[:2], bool)
        self._rows[idle], self._alive[idle] = rows, True
        if self._on_step is not None:
            self._on_step(idle, episodes)

    def _step(self) -> int:
        """Step all running episodes; return how many ended."""
        slots = np.flatnonzero(self._running >= 0)
        episodes = self._running[slots]
        agents, n_features = self._rows.shape[1:]
        rows = self._rows[slots].reshape(-1, n_features)
        actions = self._players.act(np.repeat(episodes // len(self._seeds), agents), rows)
        at = self._batch.step(slots, actions)
        if self._recording is not None:
            self._record(slots, episodes, rows, actions, at)
        self._returns[episodes] += at.reward
        self._lengths[episodes] += 1
        self._rows[slots] = at.observation.reshape(len(slots), agents, n_features)
        self._alive[slots] &= at.alive
        if self._on_step is not None:
            self._on_step(slots, episodes)
        return self._finish(slots, episodes, at)

    def _finish(self, slots: np.ndarray, episodes: np.ndarray, at: EpisodeStep) -> int:
        over = at.terminated | at.truncated
        cut = ~over & (self._lengths[episodes] >= self._limit)
        done = np.flatnonzero(over | cut)
        self._terminated[episodes[done]] = at.terminated[done]
        self._was_cut[episodes[done]] = cut[done]
        if self._recording is not None:
            self._final.update((int(episodes[i]), self._rows[slots[i]].copy()) for i in done)
        self._running[slots[done]] = -1
        return len(done)

    def _record(
        self,
        slots: np.ndarray,
        episodes: np.ndarray,
        rows: np.ndarray,
        actions: np.ndarray,
        at: EpisodeStep,
    ) -> None:
        assert self._recording is not None
        agents = len(rows) // len(slots)
        alive = self._alive[slots].ravel()
        number = np.repeat(episodes, agents)[alive]
        self._recording.add(
            rows[alive],
            actions[alive],
            np.repeat(at.reward, agents)[alive],
            number // len(self._seeds),
            number % len(self._seeds),
            np.repeat(self._lengths[episodes], agents)[alive],
            np.tile(np.arange(agents), len(slots))[alive],
        )
