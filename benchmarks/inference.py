"""A crisp tree's predict beside scikit-learn's, on the same tree of 32 leaves.

python benchmarks/inference.py
"""

import timeit
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from crisptree.crisp import CrispTree

LEAVES, FEATURES, ACTIONS, BATCH = 32, 8, 4, 100_000


def fitted(rng: np.random.Generator) -> DecisionTreeClassifier:
    """scikit-learn's tree of 32 leaves on labels that depend on all features."""
    x = rng.normal(size=(20_000, FEATURES)).astype(np.float32)
    y = np.argmax(x @ rng.normal(size=(FEATURES, ACTIONS)), axis=1)
    return DecisionTreeClassifier(max_leaf_nodes=LEAVES, random_state=0).fit(x, y)


def crisp(fitted: DecisionTreeClassifier) -> CrispTree:
    """The same tree; scikit-learn goes left where x ≤ threshold, which is our FALSE."""
    tree: Any = fitted.tree_
    is_leaf = tree.children_left == -1
    return CrispTree(
        feature=np.where(is_leaf, -1, tree.feature),
        threshold=np.where(is_leaf, 0.0, tree.threshold),
        if_true=tree.children_right,
        if_false=tree.children_left,
        action=np.where(is_leaf, tree.value[:, 0].argmax(axis=1), -1),
        feature_names=tuple(f"x{at}" for at in range(FEATURES)),
        action_names=tuple(f"action {at}" for at in range(ACTIONS)),
    )


def fastest(calls: list[Callable[[], object]], number: int) -> list[float]:
    """Seconds a call, the best of many tries in turns: what else runs on the machine only adds."""
    tries = [[timeit.timeit(call, number=number) / number for call in calls] for _ in range(25)]
    return [min(times) for times in zip(*tries, strict=True)]


def rows() -> list[dict[str, Any]]:
    """`name`, `ours`, `peer` and `ratio` (how many times faster than the peer) of each measure."""
    rng = np.random.default_rng(0)
    peer = fitted(rng)
    ours = crisp(peer)
    batch = rng.normal(size=(BATCH, FEATURES)).astype(np.float32)
    one = batch[0]
    if not np.array_equal(ours.predict(batch)[0], peer.predict(batch)):
        raise AssertionError("the two trees differ, so their times compare nothing")
    single = one[None]
    measures = [
        ("one observation, µs", 1e6, lambda: ours.predict(one), lambda: peer.predict(single), 500),
        (
            f"{BATCH:,} observations, ms",
            1e3,
            lambda: ours.predict(batch),
            lambda: peer.predict(batch),
            3,
        ),
    ]
    table = []
    for name, unit, our_call, peer_call, number in measures:
        ours_time, peer_time = fastest([our_call, peer_call], number)
        table.append(
            {
                "name": f"predict of {LEAVES} leaves, {name}, against scikit-learn",
                "ours": ours_time * unit,
                "peer": peer_time * unit,
                "ratio": peer_time / ours_time,
            }
        )
    return table


if __name__ == "__main__":
    for row in rows():
        print(f"{row['name']}: {row['ours']:.2f} to {row['peer']:.2f}, {row['ratio']:.2f} ×")
