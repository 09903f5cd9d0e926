"""In which order participants meet the aids: Latin squares balanced for what came before.

Williams' design (1949): in each column every aid appears equally often, and every aid follows
every other one equally often. An even number of aids needs as many orders as aids, an odd number
twice as many (all six for three).
"""

import numpy as np

Order = tuple[int, ...]


def balanced_orders(n_aids: int) -> tuple[Order, ...]:
    """The rows of the design, the first of them 0, 1, … as in 0, 1, n−1, 2, n−2, …"""
    zigzag = [0]
    for step in range(1, n_aids):
        zigzag.append((step + 1) // 2 if step % 2 else n_aids - step // 2)
    rows = [tuple((aid + shift) % n_aids for aid in zigzag) for shift in range(n_aids)]
    if n_aids % 2:
        rows += [row[::-1] for row in rows]
    return tuple(dict.fromkeys(rows))


def next_row(used: list[int], n_rows: int) -> int:
    """The row given to the fewest people so far, the first of equals."""
    counts = np.bincount(np.array(used, dtype=np.int64), minlength=n_rows)
    return int(np.argmin(counts[:n_rows]))


def shuffled_items(n_aids: int, n_items: int, seed: int, number: int) -> tuple[Order, ...]:
    """For one participant, the order of the questions about each aid."""
    rng = np.random.default_rng([seed, number])
    return tuple(tuple(rng.permutation(n_items).tolist()) for _ in range(n_aids))
