import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_shapes import shape_of, shapes, topology_of

from crisptree.base.errors import CrisptreeError
from crisptree.soft.topology import Topology, balanced, from_children, path_matrices, rule_list


def leaf_depths(shape, depth: int = 0) -> list[int]:
    """Left to right, TRUE side first."""
    if shape is None:
        return [depth]
    return leaf_depths(shape[0], depth + 1) + leaf_depths(shape[1], depth + 1)


@pytest.mark.parametrize("n_leaves", range(2, 130))
def test_balanced_has_all_leaves_at_the_two_least_depths(n_leaves):
    topology = balanced(n_leaves)
    depths = leaf_depths(shape_of(topology))
    least = int(np.ceil(np.log2(n_leaves)))
    assert (topology.n_leaves, topology.n_nodes) == (n_leaves, n_leaves - 1)
    assert len(depths) == n_leaves
    assert set(depths) <= {least - 1, least}
    assert max(depths) == least


@pytest.mark.parametrize("power", range(1, 8))
def test_powers_of_two_are_complete_and_numbered_as_a_heap(power):
    n_leaves = 2**power
    topology = balanced(n_leaves)
    assert leaf_depths(shape_of(topology)) == [power] * n_leaves

    def numbered(child: int) -> int:
        return child if child < topology.n_nodes else ~(child - topology.n_nodes)

    for node in range(topology.n_nodes):
        assert topology.if_true[node] == numbered(2 * node + 1)
        assert topology.if_false[node] == numbered(2 * node + 2)


def test_the_odd_leaf_is_on_the_true_side():
    assert balanced(3) == Topology((1, ~1), (~0, ~2))
    assert shape_of(balanced(5)) == (((None, None), None), (None, None))


def test_a_rule_list_has_leaves_on_its_true_side_alone():
    assert rule_list(3) == Topology((~0, ~1, ~2), (1, 2, ~3))
    assert rule_list(1) == balanced(2)
    assert all(rule_list(n).is_rule_list for n in range(1, 33))
    assert not balanced(4).is_rule_list


@pytest.mark.parametrize(("make", "n"), [(balanced, 0), (rule_list, 0)])
def test_too_small(make, n):
    with pytest.raises(CrisptreeError, match=f"at least . .*, not {n}"):
        make(n)


@pytest.mark.parametrize(
    ("if_true", "if_false", "message"),
    [
        ((~0,), (~1, ~2), "needs two children"),
        ((~0,), (~0,), "must be a child once"),
        ((~0,), (~2,), "must be a child once"),
        ((0,), (~0,), "must be a child once"),
        ((1, ~0), (1, ~1), "must be a child once"),
        ((~0, 2, 1), (~1, ~2, ~3), "numbered after its parent"),
    ],
)
def test_what_is_no_tree(if_true, if_false, message):
    with pytest.raises(CrisptreeError, match=message):
        Topology(if_true, if_false)


@given(shapes(12), st.randoms(use_true_random=False))
def test_from_children_reads_any_numbering(shape, random):
    """Nodes numbered at random, root first: the shape comes back, and every node's old number."""
    names = iter([0, *random.sample(range(1, 23), 22)])
    if_true, if_false = [-1] * 23, [-1] * 23

    def number(shape) -> int:
        at = next(names)
        if shape is not None:
            if_true[at], if_false[at] = number(shape[0]), number(shape[1])
        return at

    number(shape)
    topology, inner, leaves = from_children(if_true, if_false)
    assert shape_of(topology) == shape
    assert sorted((*inner, *leaves)) == list(range(23))

    def old(child: int) -> int:
        return inner[child] if child >= 0 else leaves[~child]

    for new, node in enumerate(inner):
        assert old(topology.if_true[new]) == if_true[node]
        assert old(topology.if_false[new]) == if_false[node]


@given(shapes(12))
def test_path_matrices_are_the_ways_to_the_leaves(shape):
    topology = topology_of(shape)
    goes_true, goes_false = path_matrices(topology)

    def walk(at: int, way: dict[int, bool]) -> None:
        if at < 0:
            trues, falses = (matrix[:, ~at].nonzero()[0] for matrix in (goes_true, goes_false))
            assert dict.fromkeys(trues, True) | dict.fromkeys(falses, False) == way
        else:
            walk(topology.if_true[at], {**way, at: True})
            walk(topology.if_false[at], {**way, at: False})

    walk(0, {})
    assert not (goes_true * goes_false).any()
    assert set(np.unique([goes_true, goes_false])) <= {0, 1}


def test_a_lone_leaf_is_a_topology_without_nodes():
    assert balanced(1) == Topology((), ()) == from_children([-1], [-1])[0]
    assert (balanced(1).n_nodes, balanced(1).n_leaves) == (0, 1)
    assert [part.shape for part in path_matrices(balanced(1))] == [(0, 1), (0, 1)]
