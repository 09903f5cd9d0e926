"""Heads: how a model's outputs become actions. Nothing else in learning knows their kind.

A tree mixes what `of_leaf` makes of its leaves by path probability; `distribution` reads the
mixture as a distribution over actions. All methods but `noise` work on JAX and NumPy arrays alike,
rows first: environments outside JAX are acted in with NumPy.
"""

from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from crisptree.base.errors import CrisptreeError
from crisptree.crisp.signature import Actions
from crisptree.soft.model import SMALLEST_PROBABILITY

HALF_LOG_TWO_PI = float(0.5 * np.log(2 * np.pi))
SQUASHED_LOG_STD = (-5.0, 2.0)
"""The bounds of a squashed Gaussian's log standard deviation."""


@runtime_checkable
class Head(Protocol):
    """The kind of action a policy learns to choose."""

    @property
    def n_outputs(self) -> int:
        """Outputs of a model for this head."""
        ...

    @property
    def n_stds(self) -> int:
        """Standard deviations that are learned together with the model: none unless said."""
        return 0

    def of_leaf(self, outputs: Any) -> Any:
        """What of a leaf's outputs `(…, n_outputs)` is mixed with that of the other leaves."""
        ...

    def distribution(self, mixed: Any, exploration: Any) -> Any:
        """The distribution over actions, from mixed outputs `(rows, n_outputs)`.

        `exploration` is the log standard deviation of a Gaussian, or ε of an ε-greedy policy.
        """
        ...

    def noise(self, key: Key[Array, ""], shape: tuple[int, ...]) -> Float[Array, "..."]:
        """Random numbers that `sample` turns into actions, `(*shape, numbers for an action)`."""
        ...

    def sample(self, distribution: Any, noise: Any) -> Any:
        """One action for each row."""
        ...

    def log_probability(self, distribution: Any, action: Any) -> Any:
        """log π(action) for each row."""
        ...

    def entropy(self, distribution: Any) -> Any:
        """The entropy of each row."""
        ...

    def mode(self, distribution: Any) -> Any:
        """The action a deterministic policy takes in each row."""
        ...

    def to_env(self, action: Any) -> Any:
        """The action in the environment's units and within its bounds: choices as they are."""
        return action


@dataclass(frozen=True)
class Categorical(Head):
    """One of `n` actions. A distribution is log-probabilities `(rows, n)`."""

    n: int

    @property
    def n_outputs(self) -> int:
        return self.n

    @property
    def parts(self) -> "list[tuple[slice, Categorical]]":
        """The parts of an action with their outputs: a single one."""
        return [(slice(self.n), self)]

    def of_leaf(self, outputs: Any) -> Any:
        """Eq. 14: each leaf is a distribution of its own."""
        return _softmax(outputs)

    def distribution(self, mixed: Any, exploration: Any) -> Any:
        xp = _namespace(mixed)
        return xp.log(xp.maximum(mixed, np.float32(SMALLEST_PROBABILITY)))

    def noise(self, key: Key[Array, ""], shape: tuple[int, ...]) -> Float[Array, "..."]:
        return jax.random.uniform(key, (*shape, 1))

    def sample(self, distribution: Any, noise: Any) -> Any:
        """By inversion of the cumulative distribution."""
        xp = _namespace(distribution)
        cumulative = xp.cumsum(xp.exp(distribution), -1)
        # Scaled by the sum, which rounding may leave short of 1, no uniform can fall beyond it.
        return (cumulative <= noise * cumulative[..., -1:]).sum(-1)

    def log_probability(self, distribution: Any, action: Any) -> Any:
        # A product with one-hot rows is many times faster than a gather once vmapped on a CPU.
        xp = _namespace(distribution)
        return xp.where(action[..., None] == np.arange(self.n), distribution, 0).sum(-1)

    def entropy(self, distribution: Any) -> Any:
        return -(_namespace(distribution).exp(distribution) * distribution).sum(-1)

    def mode(self, distribution: Any) -> Any:
        return distribution.argmax(-1)


@dataclass(frozen=True)
class EpsilonGreedy(Categorical):
    """One of `n` actions by their values: the best, or with chance ε any."""

    def of_leaf(self, outputs: Any) -> Any:
        """Eq. 13: values are mixed as they are."""
        return outputs

    def distribution(self, mixed: Any, exploration: Any) -> Any:
        xp = _namespace(mixed)
        best = mixed.argmax(-1)[..., None] == np.arange(self.n)
        likely = xp.where(best, 1 - exploration, 0) + exploration / self.n
        return xp.log(xp.maximum(likely, np.float32(SMALLEST_PROBABILITY)))


@dataclass(frozen=True)
class MultiCategorical(Head):
    """One choice for each part. A distribution is the parts' log-probabilities, one after the
    other; parts are independent given the observation."""

    sizes: tuple[int, ...]

    @property
    def n_outputs(self) -> int:
        return sum(self.sizes)

    @property
    def parts(self) -> list[tuple[slice, Categorical]]:
        ends = list(accumulate(self.sizes))
        return [
            (slice(end - size, end), Categorical(size))
            for size, end in zip(self.sizes, ends, strict=True)
        ]

    def of_leaf(self, outputs: Any) -> Any:
        parts = [part.of_leaf(outputs[..., where]) for where, part in self.parts]
        return _namespace(outputs).concatenate(parts, -1)

    def distribution(self, mixed: Any, exploration: Any) -> Any:
        return Categorical(self.n_outputs).distribution(mixed, exploration)

    def noise(self, key: Key[Array, ""], shape: tuple[int, ...]) -> Float[Array, "..."]:
        return jax.random.uniform(key, (*shape, len(self.sizes)))

    def sample(self, distribution: Any, noise: Any) -> Any:
        chosen = [
            part.sample(distribution[..., where], noise[..., i : i + 1])
            for i, (where, part) in enumerate(self.parts)
        ]
        return _namespace(distribution).stack(chosen, -1)

    def log_probability(self, distribution: Any, action: Any) -> Any:
        return sum(
            part.log_probability(distribution[..., where], action[..., i])
            for i, (where, part) in enumerate(self.parts)
        )

    def entropy(self, distribution: Any) -> Any:
        return sum(part.entropy(distribution[..., where]) for where, part in self.parts)

    def mode(self, distribution: Any) -> Any:
        modes = [part.mode(distribution[..., where]) for where, part in self.parts]
        return _namespace(distribution).stack(modes, -1)


@dataclass(frozen=True)
class Gaussian(Head):
    """A real vector within bounds. A distribution is `(means, log standard deviations)`.

    It learns in units of the bounds: -1 is `low`, 1 is `high`. Samples may lie beyond; what the
    environment gets is clipped.
    """

    low: tuple[float, ...]
    high: tuple[float, ...]

    def __post_init__(self) -> None:
        for low, high in zip(self.low, self.high, strict=True):
            if not (np.isfinite(low) and np.isfinite(high) and low < high):
                raise CrisptreeError(
                    f"an action's bounds must be finite, low below high; these are {low} and {high}"
                )

    @property
    def n_outputs(self) -> int:
        return len(self.low)

    @property
    def n_stds(self) -> int:
        return len(self.low)

    def of_leaf(self, outputs: Any) -> Any:
        """Means are mixed as they are."""
        return outputs

    def distribution(self, mixed: Any, exploration: Any) -> Any:
        return mixed, exploration

    def noise(self, key: Key[Array, ""], shape: tuple[int, ...]) -> Float[Array, "..."]:
        return jax.random.normal(key, (*shape, self.n_outputs))

    def sample(self, distribution: Any, noise: Any) -> Any:
        mean, log_std = distribution
        return mean + _namespace(mean).exp(log_std) * noise

    def log_probability(self, distribution: Any, action: Any) -> Any:
        mean, log_std = distribution
        standard = (action - mean) * _namespace(mean).exp(-log_std)
        return -(0.5 * standard**2 + log_std + HALF_LOG_TWO_PI).sum(-1)

    def entropy(self, distribution: Any) -> Any:
        mean, log_std = distribution
        of_one = (log_std + HALF_LOG_TWO_PI + 0.5).sum(-1)
        return _namespace(mean).broadcast_to(of_one, mean.shape[:-1])

    def mode(self, distribution: Any) -> Any:
        return distribution[0]

    def to_env(self, action: Any) -> Any:
        xp = _namespace(action)
        low, high = (np.asarray(bound, np.float32) for bound in (self.low, self.high))
        return xp.clip(low + (action + 1) * (0.5 * (high - low)), low, high)


@dataclass(frozen=True)
class SquashedGaussian(Gaussian):
    """A real vector within bounds, as tanh of a Gaussian whose deviation is the model's own (SAC).

    The outputs are means and log standard deviations before tanh; so is a distribution.
    """

    @property
    def n_outputs(self) -> int:
        return 2 * len(self.low)

    @property
    def n_stds(self) -> int:
        return 0

    def distribution(self, mixed: Any, exploration: Any) -> Any:
        n = len(self.low)
        log_std = _namespace(mixed).clip(mixed[..., n:], *SQUASHED_LOG_STD)
        return mixed[..., :n], log_std

    def noise(self, key: Key[Array, ""], shape: tuple[int, ...]) -> Float[Array, "..."]:
        return jax.random.normal(key, (*shape, len(self.low)))

    def sample(self, distribution: Any, noise: Any) -> Any:
        return _namespace(noise).tanh(super().sample(distribution, noise))

    def log_probability(self, distribution: Any, action: Any) -> Any:
        """Of an action between -1 and 1; inexact at the bounds themselves."""
        xp = _namespace(action)
        u = xp.arctanh(xp.clip(action, -1 + 1e-6, 1 - 1e-6))
        return super().log_probability(distribution, u) - _log_slope_of_tanh(u)

    def sample_with_log_probability(self, distribution: Any, noise: Any) -> tuple[Any, Any]:
        """One action for each row and its exact log-probability."""
        u = super().sample(distribution, noise)
        log_probability = super().log_probability(distribution, u) - _log_slope_of_tanh(u)
        return _namespace(u).tanh(u), log_probability

    def entropy(self, distribution: Any) -> Any:
        """Of the Gaussian before tanh: that of its squashed form has no closed form."""
        return super().entropy(distribution)

    def mode(self, distribution: Any) -> Any:
        return _namespace(distribution[0]).tanh(distribution[0])


def _log_slope_of_tanh(u: Any) -> Any:
    """Σ log(1 - tanh²u), exact where tanh is nearly ±1."""
    xp = _namespace(u)
    return 2 * (np.float32(np.log(2)) - u - xp.logaddexp(0, -2 * u)).sum(-1)


def head_for(actions: Actions) -> Head:
    """The head that learns such actions."""
    match actions.kind:
        case "discrete":
            return Categorical(len(actions.names))
        case "multi_discrete":
            return MultiCategorical(tuple(map(len, actions.choices)))
        case "box":
            return Gaussian(actions.low, actions.high)


def _namespace(array: Any) -> Any:
    """NumPy for NumPy's arrays, jax.numpy for all else."""
    return np if isinstance(array, np.ndarray) else jnp


def _softmax(logits: Any) -> Any:
    if not isinstance(logits, np.ndarray):
        return jax.nn.softmax(logits)
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)
