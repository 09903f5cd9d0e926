"""Trainings of a few updates: configurations that tests pass in."""

from crisptree.learn.config import DQNConfig, PPOConfig, SACConfig
from crisptree.pipeline.config import (
    CandidateConfig,
    DirectConfig,
    DistillConfig,
    EnvConfig,
    EvolveConfig,
    PolicyConfig,
    PruneConfig,
    RuleConfig,
    SearchConfig,
    SelectionConfig,
    TrainConfig,
)

PPO = PPOConfig(
    n_envs=8, n_steps=16, n_epochs=1, n_minibatches=2, critic_width=8, plateau_speedup=1.0
)
DQN = DQNConfig(n_envs=4, n_steps=16, batch_size=16, gradient_steps=2, learning_starts=16)
SAC = SACConfig(
    n_envs=4,
    n_steps=16,
    batch_size=16,
    gradient_steps=2,
    learning_starts=16,
    critic_width=8,
    buffer_size=10_000,
)


SHORT_PENDULUM = {"max_episode_steps": 20}
"""Pendulum's episodes never end before their time."""


def small_config(env_id: str = "CartPole-v1", **changes) -> TrainConfig:
    """Sixteen updates from scratch, and a few of everything else."""
    fields = {
        "env": EnvConfig(env_id, SHORT_PENDULUM if env_id == "Pendulum-v1" else {}),
        "policy": PolicyConfig("tree", 2),
        "seed": 3,
        "steps": 16 * PPO.steps_per_update,
        "episodes": 4,
        "checkpoint_every": 4,
        "candidates": CandidateConfig(("direct",), 1),
        "ppo": PPO,
        "dqn": DQN,
        "sac": SAC,
        "direct": DirectConfig(width=4),
        "distill": DistillConfig(rounds=2, episodes=4, finalists=2),
        "prune": PruneConfig(races=2, ways=3, rounds=(4,), check=8, free_check=8),
        "evolve": EvolveConfig(
            generations=2 if env_id == "Pendulum-v1" else None,
            population=4,
            episodes=2,
            confirm=4,
        ),
        "rule": RuleConfig(generations=2, population=4, confirm=4),
        "search": SearchConfig(sweeps=2, width=3, rounds=(4,), confirm=8),
        "selection": SelectionConfig(
            scale=1.0, snapshots=(4,), final=16, states=500, settled=(4, 16)
        ),
    }
    return TrainConfig(**{**fields, **changes})
