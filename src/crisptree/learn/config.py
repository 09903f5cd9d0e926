"""How a policy learns: one dataclass for each algorithm. Nothing here imports JAX.

Floats are traced: another step size, discount or schedule runs the same compiled program, and
seeds that learn side by side may each have their own (`traced_config.per_seed`). Whole numbers,
words and switches are part of the program.
"""

from dataclasses import dataclass, fields
from typing import Any, Literal

from crisptree.base.errors import CrisptreeError

GAMMA = 0.99
"""The discount factor, where nothing else is known."""
Annealed = tuple[float, float]
"""Where a number starts and where it ends."""


@dataclass(frozen=True)
class LearnConfig:
    """What all algorithms have in common."""

    n_envs: int = 64
    """Environments stepped side by side."""
    n_steps: int = 128
    """Steps of each environment between two updates."""
    gamma: float | None = None
    """Discount factor: 0.99, or more where real actions are learned in long episodes, unless
    given."""
    learning_rate: float = 1e-2
    """Step size of the actor at the start."""
    leaf_learning_rate: float = 1.0
    """Step size of a tree's leaves, as a multiple of learning_rate."""
    final_learning_rate: float = 0.05
    """Share of the step sizes that is left at the end; they fall linearly with the progress."""
    optimizer: Literal["adam", "rmsprop", "sgd"] = "adam"
    """Adam, RMSProp as in the paper, or plain steps along the gradient."""
    max_grad_norm: float = 0.5
    """Larger gradients are scaled down to this norm."""
    normalize_observations: bool = True
    """Learn on standardised observations; crisp trees still use raw units."""
    normalize_rewards: bool = True
    """Divide rewards by the running standard deviation of the discounted return."""
    steepness: Annealed | None = None
    """Steepness of an axis-aligned tree at the start and at the end, geometric in between."""
    anneal_until: float = 0.85
    """Progress at which the steepness, or the deviation of a Gaussian, has reached its end."""
    choose_gains_at: float = 0.3
    """Progress at which each linear leaf keeps its largest gains; the others become zero."""
    noise_color: float = 0.5
    """Box actions: exploring noise has the spectrum 1/f^noise_color in time; 0 is white, 1 pink."""
    plateau_speedup: float = 8.0
    """Factor by which the schedule speeds up once returns have stopped rising."""
    longest: float = 1.0
    """A training whose returns still rise in its second half takes up to this many times its
    updates; teachers have a limit of their own."""

    def __post_init__(self) -> None:
        self._at_least(1, "n_envs", "n_steps")
        if self.gamma is not None:
            self._between(0, 1, "gamma")
            self._above_zero("gamma")
        self._between(0, 1, "anneal_until", "choose_gains_at", "final_learning_rate")
        self._above_zero("learning_rate", "leaf_learning_rate", "max_grad_norm")
        self._above_zero("anneal_until")
        self._between(0, 2, "noise_color")
        self._at_least(1, "plateau_speedup", "longest")
        if self.steepness is not None and not min(self.steepness) > 0:
            raise CrisptreeError(
                f"steepness must be two numbers above 0, start and end, not {self.steepness}"
            )

    @property
    def discount(self) -> Any:
        """The discount factor: a number, or a traced one."""
        return GAMMA if self.gamma is None else self.gamma

    @property
    def steps_per_update(self) -> int:
        """Environment steps between two updates."""
        return self.n_envs * self.n_steps

    def _at_least(self, least: int, *names: str) -> None:
        for name in names:
            value = getattr(self, name)
            if not value >= least:
                raise CrisptreeError(f"{name} must be at least {least}, not {value}")

    def _above_zero(self, *names: str) -> None:
        for name in names:
            value = getattr(self, name)
            if not value > 0:
                raise CrisptreeError(f"{name} must be above 0, not {value}")

    def _between(self, least: int, greatest: int, *names: str) -> None:
        for name in names:
            value = getattr(self, name)
            if not least <= value <= greatest:
                raise CrisptreeError(f"{name} must be from {least} to {greatest}, not {value}")


@dataclass(frozen=True)
class ActorCriticConfig(LearnConfig):
    """What PPO and REINFORCE have in common: a critic, an entropy bonus, a Gaussian's deviation."""

    entropy_coef: float = 0.01
    """Weight of the entropy bonus at the start; it moves linearly to entropy_coef_end."""
    entropy_coef_end: float = 0.0
    """Weight of the entropy bonus at the end."""
    critic_learning_rate: float = 1e-3
    """Step size of the critic at the start."""
    critic_width: int = 64
    """Units in each of the critic's two layers; narrower ones need a larger step size."""
    log_std_start: float = -0.5
    """Box actions: the log standard deviation starts here, in units of half an action's range."""
    log_std_end: float = -2.0
    """Box actions: the greatest log standard deviation at the end, linear in between."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._at_least(1, "critic_width")
        self._above_zero("critic_learning_rate")


@dataclass(frozen=True)
class PPOConfig(ActorCriticConfig):
    """Proximal policy optimisation (Schulman et al. 2017)."""

    n_envs: int = 16
    """Environments stepped side by side; fewer of them mean more updates for as many steps."""
    n_epochs: int = 4
    """Passes over a trajectory."""
    n_minibatches: int = 8
    """Parts a trajectory is cut into, each a gradient step; must divide n_steps."""
    gae_lambda: float = 0.95
    """λ of generalised advantage estimation."""
    clip_range: float = 0.2
    """Range within which the ratio of probabilities is rewarded."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._at_least(1, "n_epochs", "n_minibatches")
        self._between(0, 1, "gae_lambda")
        self._above_zero("clip_range")
        if self.n_steps % self.n_minibatches:
            raise CrisptreeError(
                f"n_minibatches ({self.n_minibatches}) must divide n_steps ({self.n_steps})"
            )


@dataclass(frozen=True)
class ReinforceConfig(ActorCriticConfig):
    """REINFORCE with a baseline (Eq. 6): one gradient step for each trajectory, on its returns."""


@dataclass(frozen=True)
class DQNConfig(LearnConfig):
    """Q-learning with a replay buffer, or the paper's online Q-learning (Eq. 5)."""

    algorithm: Literal["dqn", "online_q"] = "dqn"
    """dqn: replay, target network, double Q, Huber loss. online_q: each transition once, in order,
    against the learner's own values."""
    n_envs: int = 8
    """Environments stepped side by side."""
    n_steps: int = 64
    """Steps of each environment between two updates."""
    learning_rate: float = 1e-3
    """Step size at the start."""
    max_grad_norm: float = 10.0
    """Larger gradients are scaled down to this norm."""
    buffer_size: int = 50_000
    """Transitions the replay buffer holds (dqn)."""
    batch_size: int = 128
    """Transitions of a gradient step (dqn)."""
    gradient_steps: int = 64
    """Gradient steps for each trajectory (dqn)."""
    learning_starts: int = 1_000
    """Transitions collected before the first gradient step."""
    target_update_interval: int = 256
    """Gradient steps between two copies of the learner to the target network (dqn)."""
    epsilon_start: float = 1.0
    """Chance of a random action at the start; it moves linearly to epsilon_end."""
    epsilon_end: float = 0.05
    """Chance of a random action at the end."""
    explore_until: float = 0.1
    """Progress at which epsilon has reached its end."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._at_least(1, "buffer_size", "batch_size", "gradient_steps", "target_update_interval")
        self._at_least(0, "learning_starts")
        self._between(0, 1, "epsilon_start", "epsilon_end", "explore_until")
        self._above_zero("explore_until")
        if self.algorithm == "dqn":
            _check_buffer(self.buffer_size, self.steps_per_update)


@dataclass(frozen=True)
class SACConfig(LearnConfig):
    """Soft actor-critic (Haarnoja et al. 2018), an off-policy learner of real actions."""

    n_envs: int = 8
    """Environments stepped side by side."""
    n_steps: int = 64
    """Steps of each environment between two updates."""
    learning_rate: float = 1e-3
    """Step size of the actor and of the temperature at the start."""
    max_grad_norm: float = 10.0
    """Larger gradients are scaled down to this norm."""
    critic_learning_rate: float = 1e-3
    """Step size of the critics at the start."""
    critic_width: int = 128
    """Units in each of a critic's two layers."""
    buffer_size: int = 200_000
    """Transitions the replay buffer holds."""
    batch_size: int = 256
    """Transitions of a gradient step."""
    gradient_steps: int = 128
    """Gradient steps for each trajectory."""
    learning_starts: int = 2_000
    """Transitions collected before the first gradient step."""
    noise_color: float = 1.0
    """Exploring noise has the spectrum 1/f^noise_color in time; 0 is white, 1 pink."""
    tau: float = 0.005
    """Share of the critics that the target critics take over at each gradient step."""
    temperature_start: float = 0.2
    """Weight of the entropy at the start; it is learned."""
    target_entropy: float = -1.0
    """The entropy, for each dimension of the action, that the temperature is learned for."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._at_least(1, "buffer_size", "batch_size", "gradient_steps", "critic_width")
        self._at_least(0, "learning_starts")
        self._between(0, 1, "tau")
        self._above_zero("tau", "critic_learning_rate", "temperature_start")
        _check_buffer(self.buffer_size, self.steps_per_update)


def _check_buffer(size: int, steps_per_update: int) -> None:
    if size < steps_per_update:
        raise CrisptreeError(
            f"buffer_size ({size}) must hold the {steps_per_update} steps of an update"
        )


AnyConfig = PPOConfig | ReinforceConfig | DQNConfig | SACConfig


def is_traced(field: Any) -> bool:
    """Whether a field of a config is a number that programs take as an argument."""
    return field.type is float or field.type in (float | None, Annealed | None)


def traced_fields(config: type[LearnConfig]) -> list[str]:
    """The names of the fields that compiled programs take as arguments."""
    return [field.name for field in fields(config) if is_traced(field)]


def static_fields(config: type[LearnConfig]) -> list[str]:
    """The names of the fields that another program is compiled for."""
    return [field.name for field in fields(config) if not is_traced(field)]
