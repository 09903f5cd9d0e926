"""From a soft tree to a crisp one: reading off, in raw units."""

from typing import Literal

import numpy as np

from crisptree.crisp import CrispTree
from crisptree.envs.spaces import Task
from crisptree.learn.moments import SMALLEST_VARIANCE, Moments
from crisptree.soft import AxisTree, SoftTree, Topology

FeatureChoice = Literal["magnitude", "signed"]


def harden(tree: AxisTree, moments: Moments, task: Task) -> CrispTree:
    """The limit of infinite steepness: the same features, comparators φσ + m, the likeliest action.

    `moments` are those the tree's observations were standardised with.
    """
    features = np.asarray(tree.features)
    mean, deviation = _units(moments)
    thresholds = np.asarray(tree.comparators) * deviation[features] + mean[features]
    return assemble(
        tree.topology, features, thresholds, np.zeros(len(features), bool), tree.leaves, task
    )


def argmax(
    tree: SoftTree, moments: Moments, task: Task, choice: FeatureChoice = "magnitude"
) -> CrispTree:
    """§4.1: one feature a node, φ/β_j, one action a leaf.

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
    mean, deviation = _units(moments)
    # αβ_j((x_j - m)/σ) > αφ, the other features at their mean: x_j is compared with m + σφ/β_j.
    thresholds = mean[features] + deviation[features] * np.asarray(tree.comparators) / safe
    turned = (np.asarray(tree.steepness) * chosen < 0) & (choice == "magnitude")
    return assemble(tree.topology, features, thresholds, turned, tree.leaves, task)


def _units(moments: Moments) -> tuple[np.ndarray, np.ndarray]:
    """Mean and deviation, by NumPy: JAX would compile two programs for it."""
    variance = np.asarray(moments.variance)
    return np.asarray(moments.mean), np.sqrt(variance + variance.dtype.type(SMALLEST_VARIANCE))


def assemble(
    topology: Topology,
    features: np.ndarray,
    thresholds: np.ndarray,
    turned: np.ndarray,
    leaves,
    task: Task,
) -> CrispTree:
    """A crisp tree from its parts; where `turned`, the node asks x < threshold instead of >.

    Thresholds are rounded to float32, what observations are, so that every export decides alike.
    """
    # x < t is the FALSE side of x > t', with t' the float32 just below t.
    rounded = np.clip(np.nan_to_num(thresholds), -3e38, 3e38).astype(np.float32)
    rounded = np.where(turned, np.nextafter(rounded, np.float32(-np.inf)), rounded)
    n_nodes, n_leaves = topology.n_nodes, topology.n_leaves
    if_true = np.where(turned, topology.if_false, topology.if_true)
    if_false = np.where(turned, topology.if_true, topology.if_false)

    def numbered(children: np.ndarray) -> np.ndarray:
        return np.where(children >= 0, children, n_nodes + ~children)

    none = np.full(n_leaves, -1)
    return CrispTree(
        feature=np.concatenate([features, none]),
        threshold=np.concatenate([rounded.astype(np.float64), np.zeros(n_leaves)]),
        if_true=np.concatenate([numbered(if_true), none]),
        if_false=np.concatenate([numbered(if_false), none]),
        action=np.concatenate([np.full(n_nodes, -1), np.asarray(leaves).argmax(1)]),
        feature_names=task.feature_names,
        action_names=task.action_names,
        env_id=task.env_id,
    )
