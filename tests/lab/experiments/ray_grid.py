"""A program: a grid on a Ray cluster of this machine, one of whose workers is killed.

Prints one JSON object. Run as `python ray_grid.py STORE`, with TMPDIR a folder of its own.
"""

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import ray
from made_records import CARTPOLE
from test_run_grid import quiet

from crisptree.lab.experiments.grid import Grid
from crisptree.lab.experiments.record_store import RecordStore
from crisptree.lab.experiments.run_grid import run_grid

GRID = Grid((CARTPOLE,), ("mlp", "random"), hidden_layers=(0, 1, 2), n_seeds=1, episodes=2)


def kill_one_worker(store: RecordStore, killed: list[int]) -> None:
    """Kill the first process that is seen at work in the middle of a run."""
    while not killed:
        for path in store.work_folder.glob("*/*/began"):
            lines = Path(path).read_text().split()
            if lines and not killed:
                os.kill(int(lines[0]), signal.SIGKILL)
                killed.append(int(lines[0]))
        time.sleep(0.02)


def main(url: str) -> None:
    ray.init(num_cpus=2, log_to_driver=False, include_dashboard=False)
    store, killed = RecordStore(url), list[int]()
    threading.Thread(target=kill_one_worker, args=(store, killed), daemon=True).start()
    outcome = run_grid(GRID, store, quiet(), executor="ray", job="fake_jobs:slow")
    print(json.dumps({"killed": killed, "ran": outcome.ran, "failed": outcome.failed}))


if __name__ == "__main__":
    main(sys.argv[1])
