"""A program: a driver that brings a grid of runs that learn nothing into a store.

Run as `python grid_driver.py STORE`; prints the keys of the records that it has added.
"""

import json
import sys

from made_records import CARTPOLE

from crisptree.lab.experiments.grid import Grid
from crisptree.lab.experiments.record_store import RecordStore
from crisptree.lab.experiments.run_grid import run_grid
from crisptree.pipeline.progress import Silent

GRID = Grid((CARTPOLE,), ("mlp", "random"), hidden_layers=(0, 1, 2, 3), n_seeds=4, episodes=2)

if __name__ == "__main__":
    store = RecordStore(sys.argv[1])
    outcome = run_grid(GRID, store, Silent(), workers=1, job="fake_jobs:slow")
    print(json.dumps({"ran": outcome.ran, "failed": outcome.failed}))
