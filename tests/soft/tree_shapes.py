"""Random shapes of trees, and the paper's recursions over them, written out.

A shape is nested pairs `(if_true, if_false)`; a leaf is None.
"""

import numpy as np
from hypothesis import strategies as st

from crisptree.soft import Topology
from crisptree.soft.topology import from_children


@st.composite
def shapes(draw, n_leaves: int):
    """Any binary tree with so many leaves."""
    if n_leaves == 1:
        return None
    on_true_side = draw(st.integers(1, n_leaves - 1))
    return draw(shapes(on_true_side)), draw(shapes(n_leaves - on_true_side))


def topology_of(shape) -> Topology:
    """To be called in the test: the type checks draw random numbers, which strategies must not."""
    if_true: list[int] = []
    if_false: list[int] = []

    def number(shape) -> int:
        at = len(if_true)
        if_true.append(-1)
        if_false.append(-1)
        if shape is not None:
            if_true[at], if_false[at] = number(shape[0]), number(shape[1])
        return at

    number(shape)
    return from_children(if_true, if_false)[0]


def shape_of(topology: Topology, at: int = 0):
    """The nested pairs below a node."""
    if at < 0:
        return None
    return shape_of(topology, topology.if_true[at]), shape_of(topology, topology.if_false[at])


def recursion(topology: Topology, goes_true, leaves, at: int = 0):
    """Eq. 2: T(x) = μ(x) T_true(x) + (1 - μ(x)) T_false(x), and y at a leaf."""
    if at < 0:
        return leaves[~at]
    mu = goes_true[at]
    true_side = recursion(topology, goes_true, leaves, topology.if_true[at])
    false_side = recursion(topology, goes_true, leaves, topology.if_false[at])
    return mu * true_side + (1 - mu) * false_side


def sigmoid(margin):
    """In float64, and without overflow at either end."""
    return np.exp(-np.logaddexp(0, -np.asarray(margin, np.float64)))


def softmax(logits):
    logits = np.asarray(logits, np.float64)
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)
