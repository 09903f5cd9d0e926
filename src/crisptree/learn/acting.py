"""Acting with a learner's policy in NumPy: sampled while it learns, or deterministic."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jaxtyping import Float

from crisptree.learn.heads import Categorical, EpsilonGreedy, MultiCategorical
from crisptree.learn.moments import CLIP
from crisptree.learn.stacks import stack
from crisptree.soft.numpy_models import NumpyModel, numpy_mix

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


class GreedyChoicePolicy(GreedyPolicy):
    """The deterministic policy of a learner that chooses one of some actions, or one for each
    part."""

    def probabilities(
        self, observations: Float[np.ndarray, "B F"]
    ) -> list[Float[np.ndarray, "B actions"]]:
        """The probability of each choice, part by part."""
        rows = np.asarray(observations, np.float32)[None]
        likely = np.exp(np.asarray(self._distribution(rows)[0], np.float64))
        return [likely[:, where] for where, _ in self._head.parts]

    def regrets(self, observations: Float[np.ndarray, "B F"]) -> Float[np.ndarray, "B actions"]:
        """How much less likely each choice is than the likeliest of its part: where two are equally
        likely, either will do."""
        every = self.probabilities(observations)
        return np.concatenate([likely.max(1, keepdims=True) - likely for likely in every], 1)


class GreedyQPolicy(GreedyPolicy):
    """The deterministic policy of a learner of values, which knows what a wrong action costs."""

    def __init__(self, learner: Any) -> None:
        super().__init__(learner)
        self._q_values = _mixture(stack([learner]))

    def regret(self, observations: Float[np.ndarray, "B F"]) -> Float[np.ndarray, " B"]:
        """What the worst action costs in each row, compared with the best."""
        q = self._q_values(np.asarray(observations, np.float32)[None])[0]
        return q.max(-1) - q.min(-1)


def greedy(learner: Any) -> GreedyPolicy:
    """The deterministic policy of one learner's state."""
    if isinstance(learner.head, EpsilonGreedy):
        return GreedyQPolicy(learner)
    chooses = isinstance(learner.head, Categorical | MultiCategorical)
    return (GreedyChoicePolicy if chooses else GreedyPolicy)(learner)


def _distribution(learners: Any) -> Distribution:
    """The same arithmetic as `learner.distribution`, for all seeds at once."""
    head, mixture = learners.head, _mixture(learners)
    exploration = np.asarray(learners.exploration)[:, None]
    return lambda observation: head.distribution(mixture(observation), exploration)


def _mixture(learners: Any) -> NumpyModel:
    """From raw observations (S, N, F) to the actors' mixed outputs."""
    mix = numpy_mix(learners.actor, learners.head.of_leaf)
    moments = jax.tree.map(np.asarray, learners.observations)
    mean, deviation = moments.mean[:, None], np.asarray(learners.observations.deviation)[:, None]
    seen = moments.count[:, None, None] > 0
    all_seen = seen.all()

    # Called at every step of the environments. np.clip takes as long as the arithmetic itself.
    def mixture(observation: np.ndarray) -> np.ndarray:
        standard = np.minimum(np.maximum((observation - mean) / deviation, -CLIP), CLIP)
        return mix(standard if all_seen else np.where(seen, standard, observation))

    return mixture
