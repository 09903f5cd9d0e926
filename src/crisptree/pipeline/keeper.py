"""One stage of a run on disk: its checkpoint while it works, its result when it is done."""

import time
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import numpy as np

from crisptree import soft
from crisptree.crisp import CrispTree
from crisptree.crispen.refine import Snapshot
from crisptree.learn import checkpoint
from crisptree.learn.agent import Learner
from crisptree.learn.moments import Moments
from crisptree.learn.session import Progress
from crisptree.learn.stacks import Kind, first
from crisptree.pipeline.directory import RunDirectory
from crisptree.pipeline.report import Reporter


class Carry(eqx.Module):
    """What one stage hands to the next besides the tree."""

    critic: soft.MLP
    observations: Moments

    @staticmethod
    def empty(n_features: int, critic_width: int) -> "Carry":
        critic = soft.critic(n_features, critic_width, key=jax.random.key(0))
        return Carry(critic, Moments.empty((n_features,)))


class Keeper:
    def __init__(
        self, directory: RunDirectory, number: int, name: str, steps_per_update: int, tell: Reporter
    ) -> None:
        self.name = name
        self._directory, self._tell = directory, tell
        self._folder = f"stages/{number:02d}-{name}"
        self._steps_per_update = steps_per_update
        self._seconds_before = 0.0
        self._since = self._last = time.monotonic()
        self._returns: np.ndarray | None = None

    @property
    def seconds(self) -> float:
        """Time this stage has taken, interruptions left out."""
        return self._seconds_before + time.monotonic() - self._since

    def result(self) -> dict[str, Any] | None:
        """What the stage came to, if it is done."""
        return self._directory.read_json(f"{self._folder}/result.json")

    def resumed(self, agents: Kind) -> tuple[Kind, list[Snapshot]]:
        """The agents and snapshots of the last checkpoint, or `agents` where there is none."""
        finished = self._directory.path / self._folder / "agent.npz"
        if self.result() is not None and finished.exists():
            return checkpoint.load(finished, agents), []
        state = self._directory.read_json(f"{self._folder}/checkpoint.json")
        if state is None:
            # What is logged before the first checkpoint has to go if it is never reached.
            self._write_state(None, (), self._directory.append_metrics([]))
            return agents, []
        self._seconds_before = state["seconds"]
        self._directory.cut_metrics(state["metrics_length"])
        if state["agents"] is None:
            return agents, []
        self._returns = np.array(state["returns"], float)
        snapshots = [
            Snapshot(CrispTree.from_dict(each["policy"]), each["start"])
            for each in state["snapshots"]
        ]
        path = self._directory.path / self._folder / state["agents"]
        return checkpoint.load(path, agents), snapshots

    def segment(self, progress: Progress, snapshots: Sequence[Snapshot] = ()) -> None:
        """Log a segment, write a checkpoint where one is possible, and move the bar."""
        now = time.monotonic()
        returns = progress.metrics["return"]
        n_updates, n_starts = returns.shape
        rate = n_updates * n_starts * self._steps_per_update / max(now - self._last, 1e-9)
        self._last = now
        self._returns = _last_known(returns, self._returns)
        length = self._directory.append_metrics(self._lines(progress, rate))
        if progress.is_resumable:
            self._checkpoint(progress, snapshots, length)
        total = first(progress.agents.n_updates)
        known = returns[np.isfinite(returns)]
        latest = f"return {known[-1]:8.1f}" if len(known) else "return        ?"
        self._tell.advance(
            self.name, progress.update / total, f"{latest}   {rate / 1000:,.0f}k steps/s"
        )

    def _checkpoint(self, progress: Progress, snapshots: Sequence[Snapshot], length: int) -> None:
        folder = self._directory.folder(self._folder)
        name = f"agents-{progress.update:06d}.npz"
        checkpoint.save(folder / name, progress.agents)
        self._write_state(name, snapshots, length)
        for old in folder.glob("agents-*.npz"):
            if old.name != name:
                old.unlink()

    def _write_state(self, agents: str | None, snapshots: Sequence[Snapshot], length: int) -> None:
        state = {
            "agents": agents,
            "seconds": self.seconds,
            "metrics_length": length,
            "returns": self._returns,
            "snapshots": [{"start": s.start, "policy": s.tree.to_dict()} for s in snapshots],
        }
        self._directory.folder(self._folder)
        self._directory.write_json(f"{self._folder}/checkpoint.json", state)

    def training_return(self, start: int = 0) -> float | None:
        """Mean return in training, sampled and still soft, when episodes last ended."""
        latest = np.nan if self._returns is None else self._returns[start]
        return float(latest) if np.isfinite(latest) else None

    def _lines(self, progress: Progress, rate: float) -> list[dict[str, Any]]:
        n_updates, n_starts = progress.metrics["return"].shape
        first = progress.update - n_updates
        return [
            {
                "stage": self.name,
                **({"start": start} if n_starts > 1 else {}),
                "step": (first + i + 1) * self._steps_per_update,
                **{name: float(values[i, start]) for name, values in progress.metrics.items()},
                "steps_per_second": round(rate, 1),
            }
            for i in range(n_updates)
            for start in range(n_starts)
        ]

    def finish(
        self,
        figures: dict[str, Any],
        tree: CrispTree | None = None,
        carry: Carry | None = None,
        agent: Learner | None = None,
    ) -> dict[str, Any]:
        """Write the result; the record comes last, so a stage is either done or not."""
        folder = self._directory.folder(self._folder)
        if tree is not None:
            tree.save(folder / "policy.json")
        if carry is not None:
            checkpoint.save(folder / "carry.npz", carry)
        if agent is not None:
            checkpoint.save(folder / "agent.npz", agent)
        record = {"stage": self.name, **figures, "seconds": round(self.seconds, 2)}
        self._directory.write_json(f"{self._folder}/result.json", record)
        for leftover in [*folder.glob("agents-*.npz"), folder / "checkpoint.json"]:
            leftover.unlink(missing_ok=True)
        return record

    def tree(self) -> CrispTree:
        return CrispTree.load(self._directory.path / self._folder / "policy.json")

    def carry(self, n_features: int, critic_width: int) -> Carry:
        shapes = eqx.filter_eval_shape(Carry.empty, n_features, critic_width)
        like = jax.tree.map(
            lambda leaf: np.zeros(leaf.shape, leaf.dtype) if hasattr(leaf, "shape") else leaf,
            shapes,
        )
        return checkpoint.load(self._directory.path / self._folder / "carry.npz", like)


def _last_known(returns: np.ndarray, before: np.ndarray | None) -> np.ndarray:
    """The mean over the segment's updates in which episodes ended, a start each."""
    ended = np.isfinite(returns)
    total = np.where(ended, returns, 0).sum(0)
    before = np.full(returns.shape[1], np.nan) if before is None else before
    return np.where(ended.any(0), total / np.maximum(ended.sum(0), 1), before)
