import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crisptree.crisp import CrispTree
from crisptree.crisp.signature import Actions
from crisptree.envs.forest import Forest

F = 3
NAMES = tuple(f"x{i}" for i in range(F))
KINDS = {
    "discrete": Actions.discrete(("a", "b", "c"), start=4),
    "multi_discrete": Actions.multi_discrete(("p", "q"), (("0", "1"), ("0", "1", "2"))),
    "box": Actions.box(("u", "v"), (-1.0, 0.0), (1.0, 5.0)),
}


def random_tree(kind: str, depth: int, rng: np.random.Generator, *, linear: bool = True):
    """A tree whose branches end here and there; leaves of real vectors may be linear."""
    actions = KINDS[kind]

    def leaf():
        if kind == "discrete":
            return int(rng.integers(3))
        if kind == "multi_discrete":
            return [int(rng.integers(2)), int(rng.integers(3))]
        values = [float(rng.uniform(-2, 6)) for _ in range(2)]
        clipped = [
            min(max(v, lo), hi) for v, lo, hi in zip(values, actions.low, actions.high, strict=True)
        ]
        if linear and rng.random() < 0.5:
            gains = {str(name): float(rng.normal()) for name in rng.permutation(NAMES)[:2]}
            return {"u": (clipped[0], gains), "v": clipped[1]}
        return clipped

    def node(left: int):
        if left == 0 or rng.random() < 0.2:
            return leaf()
        threshold = float(np.float32(rng.normal()))
        return (int(rng.integers(F)), threshold, node(left - 1), node(left - 1))

    return CrispTree.from_nested(node(depth), NAMES, actions=actions)


@pytest.mark.parametrize("kind", sorted(KINDS))
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_forest_does_what_its_trees_do(kind, seed):
    rng = np.random.default_rng(seed)
    trees = [random_tree(kind, int(rng.integers(5)), rng) for _ in range(4)]
    rows = rng.normal(size=(50, F)).astype(np.float32)
    which = rng.integers(4, size=50)
    expected = [trees[w].act(row[None])[0] for w, row in zip(which, rows, strict=True)]
    found = Forest(trees).act(which, rows)
    np.testing.assert_array_equal(found, np.stack(expected))
    assert found.dtype == trees[0].act(rows).dtype


def test_thresholds_are_compared_in_float64():
    """0.1 in float32 lies above 0.1 in float64."""
    tree = CrispTree.from_nested(("x0", 0.1, 1, 0), NAMES, ("no", "yes"))
    rows = np.full((1, F), 0.1, np.float32)
    assert Forest([tree]).act(np.zeros(1, int), rows).tolist() == tree.act(rows).tolist() == [1]
