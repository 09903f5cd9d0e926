"""Run directories, read and interrupted."""

import json
from pathlib import Path

from crisptree.pipeline.progress import Silent


def read(path: Path) -> dict:
    return json.loads(path.read_text())


def metrics(path: Path) -> list[dict]:
    """All lines, without what the clock says."""
    lines = [json.loads(line) for line in (path / "metrics.jsonl").read_text().splitlines()]
    return [{k: v for k, v in line.items() if k != "steps_per_second"} for line in lines]


def timeless(summary: dict) -> dict:
    """The figures, without what the clock says."""
    kept = {k: v for k, v in summary.items() if k not in ("seconds", "wall_seconds")}
    if "stages" in kept:
        kept["stages"] = [timeless(stage) for stage in kept["stages"]]
    return kept


class Stopped(Silent):
    """A reporter that presses Ctrl-C at the n-th time that the bar of a stage moves."""

    def __init__(self, stage: str, after: int) -> None:
        self.stage, self.left = stage, after

    def advance(self, stage: str, done: float, text: str) -> None:
        if stage.startswith(self.stage):
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
