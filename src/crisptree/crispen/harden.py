"""From a soft tree to a crisp one: reading it off, in raw units."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.crisp.linear import Gain, Gains
from crisptree.crisp.signature import Actions
from crisptree.crispen.feature_units import units_of
from crisptree.envs.task import Task
from crisptree.learn.moments import Moments, units
from crisptree.soft import AxisTree, SoftTree, TreeModel

FeatureChoice = Literal["magnitude", "signed"]


def harden(tree: AxisTree, moments: Moments, task: Task) -> CrispTree:
    """The limit of infinite steepness: the same features, comparators φσ + m, one action for each
    leaf.

    `moments` are those the tree's observations were standardised with.
    """
    features = np.asarray(tree.features)
    mean, deviation = units_of(task.features, moments)
    thresholds = np.asarray(tree.comparators) * deviation[features] + mean[features]
    return _assemble(tree, features, thresholds, np.zeros(len(features), bool), moments, task)


def argmax(
    tree: SoftTree, moments: Moments, task: Task, choice: FeatureChoice = "magnitude"
) -> CrispTree:
    """§4.1: one feature for each node, φ/β_j, one action for each leaf.

    `magnitude` takes the feature with the largest |β_j| (of standardised observations, so that
    units do not matter) and keeps the direction: where αβ_j < 0 the node asks x_j < φ/β_j.
    `signed` is the paper's text to the letter, argmax_j β_j and x_j > φ/β_j, which turns a node
    with a negative weight or steepness around; it is here for the record.
    """
    weights = np.asarray(tree.weights, np.float64)
    rows = np.arange(len(weights))
    features = (np.abs(weights) if choice == "magnitude" else weights).argmax(1)
    chosen = weights[rows, features]
    safe = np.where(chosen == 0, 1.0, chosen)
    mean, deviation = units(moments)
    # αβ_j((x_j - m)/σ) > αφ, the other features at their mean: x_j is compared with m + σφ/β_j.
    thresholds = mean[features] + deviation[features] * np.asarray(tree.comparators) / safe
    turned = (np.asarray(tree.steepness) * chosen < 0) & (choice == "magnitude")
    return _assemble(tree, features, thresholds, turned, moments, task)


def _assemble(
    tree: TreeModel,
    features: NDArray,
    thresholds: NDArray,
    turned: NDArray,
    moments: Moments,
    task: Task,
) -> CrispTree:
    """A crisp tree from its parts; where `turned`, the node asks x < threshold instead of >.

    Thresholds are rounded to float32, what observations are, so that every export decides alike.
    """
    # x < t is the FALSE side of x > t', with t' the float32 just below t.
    rounded = np.clip(np.nan_to_num(thresholds), -3e38, 3e38).astype(np.float32)
    rounded = np.where(turned, np.nextafter(rounded, np.float32(-np.inf)), rounded)
    topology = tree.routing().topology
    n_nodes, n_leaves = topology.n_nodes, topology.n_leaves
    features, rounded, turned = features[:n_nodes], rounded[:n_nodes], turned[:n_nodes]
    on_true, on_false = np.array(topology.if_true, int), np.array(topology.if_false, int)
    if_true = np.where(turned, on_false, on_true)
    if_false = np.where(turned, on_true, on_false)

    def numbered(children: NDArray) -> NDArray:
        return np.where(children >= 0, children, n_nodes + ~children)

    none = np.full(n_leaves, -1)
    at_leaves, gains = leaf_actions(tree, moments, task.actions)
    at_leaves, gains = at_leaves[:n_leaves], gains[:n_leaves]
    of_nodes: Gains = ((),) * n_nodes
    nothing = np.full((n_nodes, *at_leaves.shape[1:]), 0.0 if task.actions.kind == "box" else -1)
    return CrispTree(
        feature=np.concatenate([features, none]),
        threshold=np.concatenate([rounded.astype(np.float64), np.zeros(n_leaves)]),
        if_true=np.concatenate([numbered(if_true), none]),
        if_false=np.concatenate([numbered(if_false), none]),
        action=np.concatenate([nothing, at_leaves]).astype(at_leaves.dtype),
        gains=of_nodes + gains if gains else (),
        **task.signature,
    )


def leaf_actions(tree: TreeModel, moments: Moments, actions: Actions) -> tuple[NDArray, Gains]:
    """The action of each leaf, and its gains: `()` where leaves are constant.

    The likeliest choice (of each part), or the mean in the environment's units, within its bounds.
    """
    leaves = np.asarray(tree.leaves)
    if actions.kind == "discrete":
        return leaves.argmax(1), ()
    if actions.kind == "multi_discrete":
        ends = np.cumsum([len(part) for part in actions.choices])
        return np.stack([part.argmax(1) for part in np.split(leaves, ends[:-1], 1)], 1), ()
    low, high = np.asarray(actions.low), np.asarray(actions.high)
    half = 0.5 * (high - low)
    constants = low + (leaves.astype(np.float64) + 1) * half
    if tree.gains is None or tree.kept_gains is None:
        return _within(constants, low, high), ()
    mean, deviation = (part.astype(np.float64) for part in units(moments))
    # a = c + h Σ g (x - m)/σ = (c - Σ w m) + Σ w x with w = h g / σ.
    weights = np.asarray(tree.gains * tree.kept_gains, np.float64) * half[:, None] / deviation
    is_constant = (weights == 0).all(-1)
    offsets = np.where(is_constant, _within(constants, low, high), constants - weights @ mean)
    gains = tuple(
        tuple(Gain(int(d), int(f), float(leaf[d, f])) for d, f in np.argwhere(leaf))
        for leaf in weights
    )
    return offsets, gains


def _within(constants: NDArray, low: NDArray, high: NDArray) -> NDArray[np.float64]:
    """Constants as float32 can hold them, within the bounds."""
    return np.clip(constants.astype(np.float32).astype(np.float64), low, high)
