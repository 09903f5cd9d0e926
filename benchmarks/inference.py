"""A crisp tree's predict beside scikit-learn's and ONNX's on the same tree, and beside an MLP's.

python benchmarks/inference.py
"""

import timeit
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.export import as_onnx

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


def rows(quick: bool = False) -> list[dict[str, Any]]:
    """`name`, `ours`, `peer` and `ratio` (how many times faster than the peer) of each measure."""
    rng = np.random.default_rng(0)
    cart = fitted(rng)
    ours = crisp(cart)
    batch = rng.normal(size=(BATCH, FEATURES)).astype(np.float32)
    if not np.array_equal(ours.predict(batch)[0], cart.predict(batch)):
        raise AssertionError("the two trees differ, so their times compare nothing")
    peers: list[tuple[str, Callable[[np.ndarray], object]]] = [("scikit-learn", cart.predict)]
    missing: list[dict[str, Any]] = []
    for name, build in (("onnxruntime", lambda: onnx_of(ours)), ("Stable-Baselines3's MLP", mlp)):
        try:
            peers.append((name, build()))
        except (ImportError, CrisptreeError) as error:
            missing.append({"name": f"predict, against {name}", "note": f"not there: {error}"})
    measures = [
        ("one observation", "µs", 1e6, batch[0], batch[:1], 100 if quick else 500),
        (f"{BATCH:,} observations", "ms", 1e3, batch, batch, 1 if quick else 3),
    ]
    table = []
    for name, unit, factor, mine, theirs, number in measures:
        calls = [lambda x=mine: ours.predict(x)]
        calls += [lambda call=call, x=theirs: call(x) for _, call in peers]
        our_time, *peer_times = fastest(calls, number)
        for (peer, _), peer_time in zip(peers, peer_times, strict=True):
            table.append(
                {
                    "name": f"predict of {LEAVES} leaves, {name}, against {peer}",
                    "unit": unit,
                    "ours": our_time * factor,
                    "peer": peer_time * factor,
                    "ratio": peer_time / our_time,
                }
            )
    return table + missing


def onnx_of(tree: CrispTree) -> Callable[[np.ndarray], object]:
    """The same tree in ONNX's runtime."""
    from crisptree.export.onnx_model import decider

    return decider(as_onnx(tree))


def mlp() -> Callable[[np.ndarray], object]:
    """An untrained policy of Stable-Baselines3 for as many features and actions."""
    import gymnasium
    import torch
    from stable_baselines3 import PPO

    torch.set_num_threads(1)

    class Nothing(gymnasium.Env):
        observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (FEATURES,))
        action_space = gymnasium.spaces.Discrete(ACTIONS)

    model = PPO("MlpPolicy", Nothing(), device="cpu")
    return lambda rows: model.predict(rows, deterministic=True)[0]


if __name__ == "__main__":
    for row in rows():
        print(f"{row['name']}: {row['ours']:.2f} to {row['peer']:.2f}, {row['ratio']:.2f} ×")
