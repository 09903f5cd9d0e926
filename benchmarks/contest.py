"""Contestants taking turns: ratios that what else runs on the machine can not tilt."""

import json
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Entry:
    """A contestant's name and options, as `contestants.py` takes them."""

    name: str
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Figures:
    """What one contestant did, round by round."""

    rates: list[float]
    """Environment steps a second."""
    first: float
    """Seconds to the end of the first round: building, compiling, a round."""
    round: float
    """Seconds of a usual round."""
    peak_mb: float
    missing: str | None = None

    @property
    def compile_seconds(self) -> float:
        return max(0.0, self.first - self.round)


class Contestant:
    def __init__(self, entry: Entry) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "contestants.py", entry.name, json.dumps(entry.options)],
            cwd=HERE,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        opening = self._answer()
        self.missing, self.first = opening.get("missing"), opening.get("first", 0.0)

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        return json.loads(line) if line else {"missing": "it ended early"}

    def run(self) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write("run\n")
        self._process.stdin.flush()
        return self._answer()

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def compete(entries: dict[str, Entry], rounds: int) -> dict[str, Figures]:
    """`rounds` rounds in turns; one contestant works at a time."""
    playing = {name: Contestant(entry) for name, entry in entries.items()}
    records: dict[str, list[dict[str, Any]]] = {name: [] for name in entries}
    for _ in range(rounds):
        for name, contestant in playing.items():
            if contestant.missing is None:
                records[name].append(contestant.run())
    for contestant in playing.values():
        contestant.close()
    return {
        name: Figures(
            [each["steps"] / each["seconds"] for each in records[name]],
            contestant.first,
            statistics.median([each["seconds"] for each in records[name]] or [0.0]),
            max((each["peak_mb"] for each in records[name]), default=0.0),
            contestant.missing,
        )
        for name, contestant in playing.items()
    }


def row(name: str, ours: Figures, peer: Figures, bar: str) -> dict[str, Any]:
    """Our rate over the peer's: the median over rounds of the ratio within a round."""
    record: dict[str, Any] = {
        "name": name,
        "unit": "steps/s",
        "ours": round(statistics.median(ours.rates)) if ours.rates else None,
        "peer": round(statistics.median(peer.rates)) if peer.rates else None,
        "bar": bar,
        "compile_seconds": round(ours.compile_seconds, 1),
        "peak_mb": round(ours.peak_mb),
        "peer_peak_mb": round(peer.peak_mb),
    }
    for who, figures in (("ours", ours), ("peer", peer)):
        if figures.missing is not None:
            return record | {"ratio": None, "note": f"{who} is not there: {figures.missing}"}
    ratios = [a / b for a, b in zip(ours.rates, peer.rates, strict=True)]
    return record | {
        "ratio": round(statistics.median(ratios), 3),
        "spread": [round(min(ratios), 3), round(max(ratios), 3)],
    }
