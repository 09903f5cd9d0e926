"""A stage's folder while it works: checkpoints of what learns, and a line for every update."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.crispen.refine import Snapshot
from crisptree.learn import checkpoint
from crisptree.learn.trainer import Progress
from crisptree.pipeline.progress import Reporter
from crisptree.pipeline.run_directory import RunDirectory


class StageCheckpoints:
    """Checkpoints of one stage; see `stage.Checkpoints`."""

    def __init__(self, directory: RunDirectory, folder: str, name: str, report: Reporter) -> None:
        self._directory, self._folder, self._name, self._report = directory, folder, name, report
        self._seconds_before = 0.0
        self._since = self._last = time.monotonic()
        self._returns: np.ndarray | None = None
        self._best: float | None = None

    @property
    def seconds(self) -> float:
        """Time this stage has taken, interruptions left out."""
        return self._seconds_before + time.monotonic() - self._since

    def resumed(self, states: Any) -> tuple[Any, list[Snapshot]]:
        state = self._directory.read_checked(f"{self._folder}/checkpoint.json")
        if state is None:
            # What is logged before the first checkpoint has to go if it is never reached.
            self._write_state(None, (), self._directory.append_metrics([]))
            return states, []
        try:
            self._seconds_before = float(state["seconds"])
            self._directory.cut_metrics(int(state["metrics_length"]))
            if state["states"] is None:
                return states, []
            self._returns = np.array(state["returns"], float)
            self._best = None if state["best"] is None else float(state["best"])
            snapshots = [
                Snapshot(CrispTree.from_dict(each["policy"]), each["start"])
                for each in state["snapshots"]
            ]
            path = self._directory.path / self._folder / str(state["states"])
        except (KeyError, TypeError, ValueError) as error:
            raise CrisptreeError(
                f"{self._directory.path / self._folder}/checkpoint.json is damaged: {error!r}"
            ) from error
        return checkpoint.load(path, states), snapshots

    def segment(self, progress: Progress, snapshots: Sequence[Snapshot] = ()) -> None:
        now = time.monotonic()
        returns = progress.metrics["return"]
        n_updates, n_starts = returns.shape
        steps = n_updates * n_starts * progress.steps_per_update
        rate = steps / max(now - self._last, 1e-9)
        self._last = now
        self._returns = _last_known(returns, self._returns)
        known = returns[np.isfinite(returns)]
        if len(known):
            self._best = max(float(known.max()), -np.inf if self._best is None else self._best)
        length = self._directory.append_metrics(self._lines(progress, rate))
        if progress.is_resumable:
            self._checkpoint(progress, snapshots, length)
        latest = f"return {known[-1]:8.4g}" if len(known) else "return        ?"
        self._report.advance(self._name, progress.share, f"{latest}   {rate / 1000:,.1f}k steps/s")

    def _checkpoint(self, progress: Progress, snapshots: Sequence[Snapshot], length: int) -> None:
        folder = self._directory.folder(self._folder)
        name = f"states-{progress.update:06d}.eqx"
        checkpoint.save(folder / name, progress.states)
        self._write_state(name, snapshots, length)
        for old in folder.glob("states-*.eqx"):
            if old.name != name:
                old.unlink()

    def _write_state(self, states: str | None, snapshots: Sequence[Snapshot], length: int) -> None:
        state = {
            "states": states,
            "seconds": self.seconds,
            "metrics_length": length,
            "returns": self._returns,
            "best": self._best,
            "snapshots": [{"start": s.start, "policy": s.tree.to_dict()} for s in snapshots],
        }
        self._directory.folder(self._folder)
        self._directory.write_checked(f"{self._folder}/checkpoint.json", state)

    def training_return(self, start: int = 0) -> float | None:
        latest = np.nan if self._returns is None else self._returns[start]
        return float(latest) if np.isfinite(latest) else None

    def best_return(self) -> float | None:
        return self._best

    def _lines(self, progress: Progress, rate: float) -> list[dict[str, Any]]:
        n_updates, n_starts = progress.metrics["return"].shape
        first = progress.update - n_updates
        return [
            {
                "stage": self._name,
                **({"start": start} if n_starts > 1 else {}),
                "step": (first + i + 1) * progress.steps_per_update,
                **{name: float(values[i, start]) for name, values in progress.metrics.items()},
                "steps_per_second": round(rate, 1),
            }
            for i in range(n_updates)
            for start in range(n_starts)
        ]

    def clear(self) -> None:
        """Nothing of this is needed once the stage is done."""
        folder = self._directory.path / self._folder
        for leftover in [*folder.glob("states-*.eqx"), folder / "checkpoint.json"]:
            leftover.unlink(missing_ok=True)


def _last_known(returns: np.ndarray, before: np.ndarray | None) -> np.ndarray:
    """The mean over the segment's updates in which episodes ended, for each start."""
    ended = np.isfinite(returns)
    total = np.where(ended, returns, 0).sum(0)
    before = np.full(returns.shape[1], np.nan) if before is None else before
    return np.where(ended.any(0), total / np.maximum(ended.sum(0), 1), before)
