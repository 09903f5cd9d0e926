"""Trees that ask something of an export: any shape, any threshold, any name."""

from dataclasses import replace

import numpy as np

from crisptree.crisp import Actions, CrispTree, Feature

ACTIONS = ("left", "stay", "right", "jump")


def grown(leaves: int, seed: int, n_features: int = 8) -> CrispTree:
    """A random tree: thresholds of full float64 precision, leaves split until there are enough."""
    rng = np.random.default_rng(seed)
    nested = _grown(leaves, rng, n_features, lambda: int(rng.integers(len(ACTIONS))))
    return CrispTree.from_nested(nested, [f"x{at}" for at in range(n_features)], ACTIONS)


def _grown(leaves, rng, n_features, leaf):
    root: list = [leaf()]
    open_leaves = [root]
    for _ in range(leaves - 1):
        node = open_leaves.pop(rng.integers(len(open_leaves)))
        sides = [[leaf()] for _ in range(2)]
        node[:] = [int(rng.integers(n_features)), float(rng.normal()), *sides]
        open_leaves += sides
    return _plain(root)


def _plain(node: list):
    return node[0] if len(node) == 1 else (node[0], node[1], _plain(node[2]), _plain(node[3]))


def long_list(rules: int) -> CrispTree:
    """A list whose rules end now on the TRUE, now on the FALSE side."""
    nested: object = 0
    for at in reversed(range(rules)):
        leaf = at % len(ACTIONS)
        sides = (leaf, nested) if at % 2 else (nested, leaf)
        nested = (at % 3, (-1.0) ** at * (rules - at) / 7, *sides)
    return CrispTree.from_nested(nested, ("a", "b", "c"), ACTIONS)


LARGEST32 = float(np.finfo(np.float32).max)
EXTREME = CrispTree.from_nested(
    (
        "a",
        1e300,
        "left",
        ("a", -1e300, ("b", 5e-324, ("b", LARGEST32, 2, 1), ("c", 0.1, "left", 1)), "right"),
    ),
    ("a", "b", "c"),
    ("left", "stay", "right"),
)
"""Thresholds beyond float32's range, below its smallest number, and at its edge."""

HOSTILE_NAMES = (
    '"); system("rm -rf /"); //',
    "*/ int main(void) { return 1; } /*",
    "/* ??/ \\",
    "a\nb\r\u2028c\u2029\x00\x1b[2J",
    '"""\nimport os\n"""',
    "</script><script>alert(1)</script>",
    "${process.exit(1)} `x` {0} %s",
    "угол ∠ 角度 \u202e",
)
HOSTILE = CrispTree.from_nested(
    (0, 0.5, (1, 0.5, 0, 1), (2, 0.5, (3, 0.25, 2, 3), (4, 0.5, 4, (5, 0.1, 5, (7, 1.0, 6, 7))))),
    HOSTILE_NAMES,
    HOSTILE_NAMES,
    env_id=HOSTILE_NAMES[1] + HOSTILE_NAMES[4],
)

LEAF = CrispTree.leaf(1, ("a", "b"), ("left", "right"))
ODD = {"leaf": LEAF, "list": long_list(150), "extreme": EXTREME, "hostile": HOSTILE}


STARTED = Actions.discrete(("left", "stay", "right"), 5)
MULTI = Actions.multi_discrete(("gear", "lamp"), (("low", "high"), ("off", "dim", "on")), (1, 0))
BOX = Actions.box(("torque", "brake"), (-2.0, 0.0), (2.0, 1.0))
DOUBLE = Actions.box(("torque",), (-0.1,), (0.3,), dtype="float64")
HOSTILE_BOX = Actions.box(HOSTILE_NAMES, (-1.0,) * 8, (1.0,) * 8, shape=(2, 4))


def tree_with(actions: Actions, leaves: int, seed: int, linear: bool = False) -> CrispTree:
    """A random tree with leaves of these actions over three features, one of them bounded."""
    rng = np.random.default_rng(seed)
    features = (Feature("angle", low=-3.2, high=3.2), Feature("speed"), Feature("lit", "flag"))

    def leaf():
        if actions.kind == "discrete":
            return int(rng.integers(len(actions.names)))
        if actions.kind == "multi_discrete":
            return [int(rng.integers(len(choices))) for choices in actions.choices]
        values = [float(rng.uniform(*pair)) for pair in zip(actions.low, actions.high, strict=True)]
        if not linear:
            return values
        return [
            (value, {int(at): float(rng.normal()) for at in rng.permutation(3)[: rng.integers(4)]})
            for value in values
        ]

    return CrispTree.from_nested(_grown(leaves, rng, 3, leaf), features=features, actions=actions)


def hostile_formulas() -> CrispTree:
    leaf = [(0.1 * at, {at: 0.5, 7 - at: -0.25}) for at in range(8)]
    nested = (0, 0.5, leaf, (1, 0.25, [0.0] * 8, leaf[::-1]))
    return CrispTree.from_nested(nested, HOSTILE_NAMES, actions=HOSTILE_BOX)


KINDS = {
    "start": tree_with(STARTED, 12, 0),
    "several choices": tree_with(MULTI, 12, 1),
    "vectors": tree_with(BOX, 12, 2),
    "formulas": tree_with(BOX, 12, 3, linear=True),
    "one formula": tree_with(DOUBLE, 1, 4, linear=True),
    "hostile formulas": hostile_formulas(),
}
"""A tree for every kind of leaf."""
EVERY = {**ODD, **KINDS}
CONSTANT = {name: tree for name, tree in EVERY.items() if not tree.is_linear}


def with_sums(actions: Actions, leaves: int, seed: int, linear: bool = False) -> CrispTree:
    """A random tree that asks for three sums besides."""
    rng = np.random.default_rng(seed)
    plain = tree_with(actions, leaves, seed, linear)
    sums = (
        Feature("speed + angle − lit", terms=((1, 1.0), (0, 1.0), (2, -1.0))),
        Feature("speed − 0.3·angle", terms=((1, 1.0), (0, -0.3))),
        Feature("−angle + 2.5·speed + lit", terms=((0, -1.0), (1, 2.5), (2, 1.0))),
    )
    return replace(
        plain,
        features=(*plain.features, *sums),
        feature_names=(),
        feature=np.where(plain.feature >= 0, rng.integers(0, 6, plain.n_nodes), -1),
    )


SUMS = {
    "choices": with_sums(STARTED, 12, 5),
    "formulas": with_sums(BOX, 12, 6, linear=True),
}
"""Trees with derived features."""
