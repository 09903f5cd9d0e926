"""How an agent learns: one dataclass whose field docs become the command line's help."""

from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from crisptree.base.errors import CrisptreeError


@runtime_checkable
class AnyLearning(Protocol):
    """What the settings of all learners have: how to act, and how step sizes fall."""

    @property
    def n_envs(self) -> int: ...
    @property
    def n_steps(self) -> int: ...
    @property
    def gamma(self) -> float: ...
    @property
    def final_rate(self) -> float: ...
    @property
    def steps_per_update(self) -> int: ...


@dataclass(frozen=True)
class Learning:
    """Settings of the on-policy learner."""

    algorithm: Literal["ppo", "reinforce"] = "ppo"
    """PPO, or REINFORCE (Eq. 6): one gradient step a rollout on undiluted returns."""
    n_envs: int = 64
    """Environments stepped side by side."""
    n_steps: int = 128
    """Steps of each environment between two updates."""
    epochs: int = 4
    """Passes over a rollout (PPO)."""
    minibatches: int = 8
    """Parts a rollout is cut into, each a gradient step (PPO); must divide n_steps."""
    gamma: float = 0.99
    """Discount."""
    gae_lambda: float = 0.95
    """λ of generalised advantage estimation (PPO)."""
    clip: float = 0.2
    """Clipping range of the probability ratio (PPO)."""
    entropy: float = 0.01
    """Entropy bonus at the start; it falls linearly to entropy_end."""
    entropy_end: float = 0.0
    """Entropy bonus at the end."""
    learning_rate: float = 1e-2
    """Step size of the actor at the start; it falls linearly to final_rate of it."""
    leaf_rate: float = 1.0
    """Step size of a tree's leaves, as a multiple of learning_rate."""
    critic_rate: float = 1e-3
    """Step size of the critic at the start."""
    critic_width: int = 64
    """Units in each of the critic's two layers; narrower ones need a larger critic_rate."""
    final_rate: float = 0.05
    """Share of the step sizes that is left at the end."""
    optimiser: Literal["adam", "rmsprop"] = "adam"
    """Adam, or RMSProp as in the paper."""
    max_gradient_norm: float = 0.5
    """Gradients longer than this are shortened to it."""
    normalise_observations: bool = True
    """Learn on standardised observations; crisp trees are in raw units all the same."""
    normalise_rewards: bool = True
    """Divide rewards by the running standard deviation of the discounted return."""
    steepness: tuple[float, float] | None = None
    """Steepness of an axis-aligned tree at the start and at the end (geometric in between)."""
    anneal_until: float = 0.85
    """Share of the training by which the steepness has reached its end."""
    compiling: Literal["quick", "thorough"] = "thorough"
    """Quick takes half of the time, for programs that then run two fifths longer (and may round
    the last digit differently): a gain where they run for seconds."""

    def __post_init__(self) -> None:
        for name in ("n_envs", "n_steps", "epochs", "minibatches", "critic_width"):
            if getattr(self, name) < 1:
                raise CrisptreeError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.n_steps % self.minibatches:
            raise CrisptreeError(
                f"minibatches ({self.minibatches}) must divide n_steps ({self.n_steps})"
            )
        if not 0 < self.gamma <= 1:
            raise CrisptreeError(f"gamma must be above 0 and at most 1, not {self.gamma}")
        if self.learning_rate <= 0:
            raise CrisptreeError(f"learning_rate must be above 0, not {self.learning_rate}")

    @property
    def steps_per_update(self) -> int:
        return self.n_envs * self.n_steps
