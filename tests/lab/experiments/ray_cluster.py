"""A program: a sweep on a Ray cluster of two nodes on loopback, one of whose workers is killed.

Prints one JSON object. Run as `python ray_cluster.py STORE`, with TMPDIR a folder of its own.
"""

import json
import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

import ray
from ray.cluster_utils import Cluster

from crisptree.lab.experiments.campaign import run_grid
from crisptree.lab.experiments.on_ray import RayBackend
from crisptree.lab.experiments.plan import Grid
from crisptree.lab.experiments.progress import Progress, progress_bars
from crisptree.lab.experiments.store import Store

GRID = Grid(("Acrobot-v1",), ("random",), n_seeds=4, episodes=400)
"""Runs of a few seconds: one has to be caught at work."""


def kill_one_worker(killed: list[int]) -> None:
    """The first process that is seen at work in the middle of a run."""
    work = Path(tempfile.gettempdir()) / "crisptree-work"
    while not killed:
        for lock in work.glob("*/*/lock"):
            holder = lock.read_text()
            if holder and not killed:
                time.sleep(0.1)
                if lock.exists():
                    os.kill(int(holder), signal.SIGKILL)
                    killed.append(int(holder))
        time.sleep(0.05)


def main(url: str) -> None:
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    killed: list[int] = []
    threading.Thread(target=kill_one_worker, args=(killed,), daemon=True).start()
    backend = RayBackend(cluster.address, num_cpus=1, num_gpus=0, retries=3)
    nodes = sum(node["Alive"] for node in ray.nodes())
    store = Store(url)
    with progress_bars() as bars:
        ended = run_grid(GRID, store, backend, Progress(bars))
    cluster.shutdown()
    print(json.dumps({"nodes": nodes, "killed": killed, "ran": ended.ran, "failed": ended.failed}))


if __name__ == "__main__":
    main(sys.argv[1])
