"""One linear rule for real actions: the baseline that few tables show."""

from typing import Any

import numpy as np

from crisptree.crisp import CrispTree
from crisptree.crisp.linear import Gain
from crisptree.envs.task import Task
from crisptree.learn.moments import units


def linear_rule(learner: Any, task: Task) -> CrispTree:
    """A trained policy without hidden layers as a tree of one leaf: a = c + Σ w x, clipped.

    The learner sees standardised observations z = (x - m)/σ and acts in units of the bounds:
    a = low + h (β z + b + 1), with h half the range.
    """
    (weights,), (biases,) = learner.actor.weights, learner.actor.biases
    mean, deviation = (np.asarray(part, np.float64) for part in units(learner.observations))
    low, high = np.asarray(task.actions.low), np.asarray(task.actions.high)
    half = 0.5 * (high - low)
    slopes = np.asarray(weights, np.float64) * half[:, None] / deviation
    offsets = low + half * (np.asarray(biases, np.float64) + 1) - slopes @ mean
    gains = tuple(Gain(int(d), int(f), float(slopes[d, f])) for d, f in np.argwhere(slopes))
    no_child = np.array([-1])
    return CrispTree(
        feature=no_child,
        threshold=np.zeros(1),
        if_true=no_child,
        if_false=no_child,
        action=offsets[None],
        gains=(gains,),
        **task.signature,
    )
