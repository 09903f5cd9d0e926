"""Q-learning's update rules, as small pure functions of a minibatch of rows.

`terminated` rows do not bootstrap; truncated ones, which are not terminated, do.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int


def of_taken(q: Float[Array, "rows A"], action: Int[Array, " rows"]) -> Float[Array, " rows"]:
    """Q(s, a) of the action taken."""
    # A product with one-hot rows is many times faster than a gather once vmapped on a CPU.
    return (q * jax.nn.one_hot(action, q.shape[-1], dtype=q.dtype)).sum(-1)


def greedy_target(
    reward: Float[Array, " rows"],
    terminated: Bool[Array, " rows"],
    next_q: Float[Array, "rows A"],
    gamma: float,
) -> Float[Array, " rows"]:
    """Eq. 5: R + γ max_a' Q(s', a')."""
    return reward + gamma * jnp.where(terminated, 0.0, next_q.max(-1))


def double_target(
    reward: Float[Array, " rows"],
    terminated: Bool[Array, " rows"],
    next_q: Float[Array, "rows A"],
    next_target_q: Float[Array, "rows A"],
    gamma: float,
) -> Float[Array, " rows"]:
    """Double Q (van Hasselt et al. 2016): R + γ Q⁻(s', argmax_a' Q(s', a')).

    The learner chooses the action, the target network values it.
    """
    following = of_taken(next_target_q, next_q.argmax(-1))
    return reward + gamma * jnp.where(terminated, 0.0, following)


def half_square(difference: Float[Array, " rows"]) -> Float[Array, " rows"]:
    """½δ²: against a constant target its gradient step is Eq. 5, δ ∇Q."""
    return 0.5 * jnp.square(difference)


def huber(difference: Float[Array, " rows"]) -> Float[Array, " rows"]:
    """½δ² up to |δ| = 1, |δ| - ½ beyond: no difference pulls harder than 1."""
    size = jnp.abs(difference)
    near = jnp.minimum(size, 1.0)
    return near * (size - 0.5 * near)
