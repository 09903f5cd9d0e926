"""Jobs for a grid that learn nothing: a cell earns its size plus its seed."""

import base64
import os
import signal
import time
from pathlib import Path
from typing import Any

from crisptree.lab.experiments.cell import IMITATORS, LEARNERS, Cell
from crisptree.lab.experiments.record import Record, SeedResult


def run(cell: dict[str, Any], teacher: Any, folder: str, reuse: str, report: Any) -> dict[str, Any]:
    """The answer of `run_cell.run_job`, at once."""
    report.advance("stage", 0.5, "half")
    wanted = Cell.from_dict(cell)
    assert (teacher is not None) == (wanted.model in IMITATORS)
    if teacher is not None:
        assert base64.b64decode(teacher["agent"]) == b"agent of 1"
    scores = {seed: float((wanted.size or 0) + seed) for seed in wanted.seeds}
    seeds = [SeedResult(s, soft_returns=(x,), soft_selection=x) for s, x in scores.items()]
    config = {"resolved": cell["config"], "hash": "0"}
    record = Record(wanted.key, wanted, tuple(seeds), config, None, {})
    agents = {s: f"agent of {s}".encode() for s in wanted.seeds if wanted.model in LEARNERS}
    packed = {str(seed): base64.b64encode(each).decode() for seed, each in agents.items()}
    return {"record": record.to_dict(), "agents": packed}


def fail_on_one_layer(cell: dict[str, Any], **arguments: Any) -> dict[str, Any]:
    if cell["config"]["policy"]["size"] == 1:
        raise ValueError("bad luck")
    return run(cell, **arguments)


def die_on_one_layer(cell: dict[str, Any], **arguments: Any) -> dict[str, Any]:
    if cell["config"]["policy"]["size"] == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return run(cell, **arguments)


def slow(folder: str, **arguments: Any) -> dict[str, Any]:
    """Write down who is at work, and take a while the first time."""
    path = Path(folder)
    first = not (path / "began").exists()
    with open(path / "began", "a") as file:
        file.write(f"{os.getpid()}\n")
    time.sleep(0.5 if first else 0.0)
    return run(folder=folder, **arguments)
