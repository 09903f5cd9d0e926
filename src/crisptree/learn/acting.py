"""Acting with a learner's policy in NumPy: sampled while it learns, or deterministic."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jaxtyping import Float

from crisptree.learn.moments import CLIP
from crisptree.learn.stacks import stack
from crisptree.soft.numpy_models import numpy_mix

Distribution = Callable[[Float[np.ndarray, "S N F"]], Any]
Sampler = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
"""From observations (S, N, F) and noise to actions and their log-probabilities (S, N)."""


def sampler(learners: Any) -> Sampler:
    """Actions as S stacked learners sample them now."""
    head, distribution = learners.head, _distribution(learners)

    def sample(observation: np.ndarray, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        likely = distribution(observation)
        action = head.sample(likely, noise)
        return action, head.log_probability(likely, action)

    return sample


class GreedyPolicy:
    """The deterministic policy of one learner: its likeliest action, or its mean."""

    def __init__(self, learner: Any) -> None:
        self._head = learner.head
        self._distribution = _distribution(stack([learner]))

    def act(self, observations: Float[np.ndarray, "B F"]) -> np.ndarray:
        """The policy's own actions: choices counted from 0, or real vectors within the bounds."""
        rows = np.asarray(observations, np.float32)[None]
        return self._head.to_env(self._head.mode(self._distribution(rows)))[0]


def greedy(learner: Any) -> GreedyPolicy:
    """The deterministic policy of one learner's state."""
    return GreedyPolicy(learner)


def _distribution(learners: Any) -> Distribution:
    """The same arithmetic as `learner.distribution`, for all seeds at once."""
    head = learners.head
    mix = numpy_mix(learners.actor, head.of_leaf)
    moments = jax.tree.map(np.asarray, learners.observations)
    mean, deviation = moments.mean[:, None], np.asarray(learners.observations.deviation)[:, None]
    exploration = np.asarray(learners.exploration)[:, None]
    seen = moments.count[:, None, None] > 0
    all_seen = seen.all()

    # Called between two steps of the environments: plain indices and bounds, since the functions
    # that serve every case take as long as the arithmetic.
    def distribution(observation: np.ndarray) -> Any:
        standard = np.minimum(np.maximum((observation - mean) / deviation, -CLIP), CLIP)
        x = standard if all_seen else np.where(seen, standard, observation)
        return head.distribution(mix(x), exploration)

    return distribution
