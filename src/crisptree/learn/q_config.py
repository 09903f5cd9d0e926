"""How an agent learns Q-values: one dataclass whose field docs say what each number does."""

from dataclasses import dataclass
from typing import Literal

from crisptree.base.errors import CrisptreeError


@dataclass(frozen=True)
class QLearning:
    """Settings of the Q-learners. A round is acting, then learning; an update is many rounds."""

    algorithm: Literal["q", "online-q"] = "q"
    """A DQN (replay, target network, double Q, Huber), or Eq. 5: each transition once, at once."""
    n_envs: int = 8
    """Environments stepped side by side."""
    n_steps: int = 1
    """Steps of each environment in a round."""
    rounds: int = 64
    """Rounds in an update, after which figures are logged."""
    gamma: float = 0.99
    """Discount."""
    learning_rate: float = 1e-3
    """Step size at the start; it falls linearly to final_rate of it."""
    leaf_rate: float = 1.0
    """Step size of a tree's leaves, as a multiple of learning_rate."""
    final_rate: float = 0.05
    """Share of the step size that is left at the end."""
    optimiser: Literal["adam", "rmsprop", "sgd"] = "adam"
    """Adam, RMSProp, or plain steps along the gradient as in Eq. 5."""
    max_gradient_norm: float = 10.0
    """Gradients longer than this are shortened to it."""
    epsilon: float = 1.0
    """Chance of a random action at the start; it falls linearly to epsilon_end."""
    epsilon_end: float = 0.05
    """Chance of a random action in the end."""
    explore_until: float = 0.1
    """Share of the training by which epsilon has reached its end."""
    warm_up: int = 125
    """Rounds of acting before the first gradient step."""
    memory: int = 50_000
    """Rows of experience the replay holds (DQN)."""
    batch: int = 128
    """Rows of a gradient step (DQN)."""
    gradient_steps: int = 1
    """Gradient steps in a round (DQN)."""
    sync_every: int = 250
    """Rounds between two copies of the learner to the target network (DQN)."""
    normalise_observations: bool = True
    """Learn on standardised observations; crisp trees are in raw units all the same."""
    normalise_rewards: bool = True
    """Divide rewards by the running standard deviation of the discounted return."""

    def __post_init__(self) -> None:
        for name in ("n_envs", "n_steps", "rounds", "batch", "gradient_steps", "sync_every"):
            if getattr(self, name) < 1:
                raise CrisptreeError(f"{name} must be at least 1, not {getattr(self, name)}")
        if not 0 < self.gamma <= 1:
            raise CrisptreeError(f"gamma must be above 0 and at most 1, not {self.gamma}")
        if self.learning_rate <= 0:
            raise CrisptreeError(f"learning_rate must be above 0, not {self.learning_rate}")
        # At epsilon = 1 no action is likelier than another: the greedy one could not be told.
        if not 0 <= self.epsilon_end <= self.epsilon <= 1 or self.epsilon_end == 1:
            raise CrisptreeError(
                "epsilon must fall from at most 1 to at least 0, below 1: not from "
                f"{self.epsilon} to {self.epsilon_end}"
            )
        if not 0 < self.explore_until <= 1:
            raise CrisptreeError(
                f"explore_until must be above 0 and at most 1, not {self.explore_until}"
            )

    @property
    def steps_per_update(self) -> int:
        return self.n_envs * self.n_steps * self.rounds
