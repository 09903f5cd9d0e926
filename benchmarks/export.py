"""One decision of an exported tree of 32 leaves, beside scikit-learn's on the same tree.

python benchmarks/export.py
"""

import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from inference import BATCH, FEATURES, crisp, fastest, fitted

from crisptree.crisp import CrispTree
from crisptree.export import as_c, as_python

STATES, ROUNDS = 4096, 200

# Walks over states that fit into the processor's cache, so that it times decisions, not memory.
C_TIMER = """\
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <time.h>
#include "policy.h"

int main(void)
{
    static double x[STATES][POLICY_FEATURES];
    struct timespec start, stop;
    unsigned long sum = 0;
    int round, at;
    if (fread(x, sizeof x, 1, stdin) != 1)
        return 1;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (round = 0; round < ROUNDS; round++)
        for (at = 0; at < STATES; at++)
            sum += (unsigned long)policy_action(x[at]);
    clock_gettime(CLOCK_MONOTONIC, &stop);
    printf("%.17g %lu\\n", (double)(stop.tv_sec - start.tv_sec)
        + 1e-9 * (double)(stop.tv_nsec - start.tv_nsec), sum);
    return 0;
}
"""


def seconds_in_c(tree: CrispTree, states: np.ndarray) -> float:
    """One decision of the C function, gcc -O2, best of nine runs over random states."""
    code = as_c(tree)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "policy.h").write_text(code.header)
        (Path(folder) / "policy.c").write_text(code.source)
        (Path(folder) / "timer.c").write_text(C_TIMER)
        defines = [f"-DSTATES={STATES}", f"-DROUNDS={ROUNDS}"]
        command = ["gcc", "-std=c99", "-O2", *defines, "-o", "timer", "policy.c", "timer.c"]
        subprocess.run(command, cwd=folder, check=True)
        content = states[:STATES].astype(np.float64).tobytes()
        expected = ROUNDS * int(tree.predict(states[:STATES])[0].sum())
        tries = []
        for _ in range(9):
            done = subprocess.run(["./timer"], cwd=folder, input=content, capture_output=True)
            time, total = done.stdout.split()
            if int(total) != expected:
                raise AssertionError("the C function decides otherwise than the tree")
            tries.append(float(time) / (ROUNDS * STATES))
    return min(tries)


def rows(quick: bool = False) -> list[dict[str, Any]]:
    """`name`, `ours`, `peer` and `ratio` (how many times faster than the peer) of each measure."""
    rng = np.random.default_rng(0)
    peer = fitted(rng)
    tree = crisp(peer)
    batch = rng.normal(size=(BATCH, FEATURES)).astype(np.float32)
    names: dict[str, Any] = {}
    exec(as_python(tree), names)
    act = names["act"]
    several = list(batch[:100])
    as_lists = [state.tolist() for state in several]
    single = batch[:1]
    array_time, list_time, peer_time = fastest(
        [
            lambda: [act(state) for state in several],
            lambda: [act(state) for state in as_lists],
            lambda: peer.predict(single),
        ],
        100,
    )
    (batch_time,) = fastest([lambda: peer.predict(batch)], 3)
    measures = [
        ("Python, a NumPy observation, µs", 1e6, array_time / len(several), peer_time),
        ("Python, a list, µs", 1e6, list_time / len(several), peer_time),
        ("C, ns (against a batch of 100,000)", 1e9, seconds_in_c(tree, batch), batch_time / BATCH),
    ]
    return [
        {
            "name": f"one decision of 32 leaves exported to {name}, against scikit-learn",
            "ours": ours * unit,
            "peer": theirs * unit,
            "ratio": theirs / ours,
        }
        for name, unit, ours, theirs in measures
    ]


if __name__ == "__main__":
    for row in rows():
        print(f"{row['name']}: {row['ours']:.3f} to {row['peer']:.2f}, {row['ratio']:.1f} ×")
