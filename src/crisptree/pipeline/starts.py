"""Independent starts in processes of their own, one core each; the parent shows their progress."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from crisptree.base.errors import CrisptreeError
from crisptree.base.processes import ONE_THREAD, cores
from crisptree.crisp import CrispTree
from crisptree.crispen.select import Selection
from crisptree.envs.registry import plays_in_rows
from crisptree.learn.cache import keep_compiled
from crisptree.pipeline.directory import RunDirectory
from crisptree.pipeline.report import Reporter, StatusFile
from crisptree.pipeline.settings import MOST_STARTS, Settings
from crisptree.pipeline.way import Arrived, Way


def way_seed(seed: int, start: int) -> int:
    """A seed for one start of one seed (and for the choice among starts), no two alike."""
    return seed * (MOST_STARTS + 1) + start


def best_of(every: list[Arrived], env_id: str, seed: int, most: int) -> int:
    """Which of at most `most` ways of a seed earns most on selection episodes of its own."""
    if len(every) == 1:
        return 0
    selection = Selection(env_id, way_seed(seed, most))
    episodes = 4096 if plays_in_rows(env_id) else 512
    best, _ = selection.race([arrived.tree for arrived in every], (episodes,), keep=1.0)
    return best


def start_of(settings: Settings, start: int) -> tuple[Settings, int]:
    """What start number `start` does: its settings and its number among starts of its route.

    Where nobody said how to begin, starts take turns: with a teacher, and from scratch. Which
    of the two serves better differs from seed to seed, and selection episodes tell.
    """
    if not settings.undecided:
        return settings, start
    if start % 2 == 0:
        return replace(settings, teacher="mlp"), start // 2
    return replace(settings, direct=True), start // 2


def run_starts(
    settings: Settings, seed: int, directory: RunDirectory, tell: Reporter
) -> list[Arrived]:
    """All starts of a seed, at most one a core at a time; finished ones are not run again."""
    assert settings.starts is not None
    folders = [directory.folder(f"starts/{start}") for start in range(settings.starts)]
    waiting = [i for i, folder in enumerate(folders) if not (folder / "arrived.json").exists()]
    for i in waiting:
        own, number = start_of(settings, i)
        RunDirectory(folders[i]).write_json(
            "config.json", {"settings": own.to_dict(), "way_seed": way_seed(seed, number)}
        )
    running: dict[int, subprocess.Popen] = {}
    try:
        while waiting or running:
            while waiting and len(running) < cores():
                start = waiting.pop(0)
                running[start] = _spawn(folders[start])
            for start, process in list(running.items()):
                if process.poll() is not None:
                    del running[start]
                    _check(process, folders[start])
            _tell(folders, running, tell)
            time.sleep(0.2)
    finally:
        for process in running.values():
            process.send_signal(signal.SIGINT)
        for process in running.values():
            process.wait()
    return [_arrived(folder) for folder in folders]


def _spawn(folder: Path) -> subprocess.Popen:
    with open(folder / "log.txt", "a") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "crisptree.pipeline.starts", str(folder)],
            env={**os.environ, **ONE_THREAD},
            stdout=log,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
        )


def _check(process: subprocess.Popen, folder: Path) -> None:
    if process.returncode == 0:
        return
    lines = (folder / "log.txt").read_text(errors="replace").strip().splitlines()
    raise CrisptreeError(f"a start failed: {lines[-1] if lines else '?'} (see {folder}/log.txt)")


def _tell(folders: list[Path], running: dict[int, subprocess.Popen], tell: Reporter) -> None:
    """One line for all: the least advanced stage sets the bar."""
    states = []
    for start in sorted(running):
        try:
            states.append((start, json.loads((folders[start] / "status.json").read_text())))
        except (OSError, ValueError):
            continue
    if states:
        text = "   ".join(
            f"[{start}] {s['stage']} {s['done']:.0%} {s['text']}" for start, s in states
        )
        tell.advance(f"{len(folders)} starts", min(s["done"] for _, s in states), text)


def _arrived(folder: Path) -> Arrived:
    record = RunDirectory(folder).read_json("arrived.json")
    assert record is not None
    tree = CrispTree.load(folder / "policy.json")
    return Arrived(tree, record["selection_return"], tuple(record["records"]))


def main(folder: Path) -> None:
    """The worker: one start, in the folder that has its config.json."""
    keep_compiled()
    directory, config = RunDirectory.resume(folder)
    settings = Settings.from_dict(config["settings"])
    tell = StatusFile(folder / "status.json")
    arrived = Way(settings, config["way_seed"], directory, tell).go()
    arrived.tree.save(folder / "policy.json")
    directory.write_json(
        "arrived.json",
        {"selection_return": arrived.selection_return, "records": list(arrived.records)},
    )


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        main(Path(sys.argv[1]))
    except CrisptreeError as error:
        print(f"crisptree: {error}")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
