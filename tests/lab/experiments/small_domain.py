"""CartPole in trainings of a few updates."""

from dataclasses import replace
from typing import Any

from made_records import CARTPOLE

from crisptree.lab.experiments.cell import Cell, cell_of
from crisptree.lab.experiments.domain import Domain
from crisptree.learn.config import PPOConfig
from crisptree.pipeline.config import (
    CandidateConfig,
    DirectConfig,
    DistillConfig,
    EnvConfig,
    PruneConfig,
    SearchConfig,
    SelectionConfig,
    TrainConfig,
)

PPO = PPOConfig(n_envs=8, n_steps=16, n_epochs=1, n_minibatches=2, critic_width=8)
CONFIG = TrainConfig(
    env=CARTPOLE.config.env,
    steps=8 * PPO.steps_per_update,
    checkpoint_every=4,
    candidates=CandidateConfig(("direct",)),
    ppo=PPO,
    direct=DirectConfig(width=4),
    distill=DistillConfig(rounds=2, episodes=4, finalists=2),
    prune=PruneConfig(races=2, ways=3, rounds=(4,), check=8, free_check=8),
    search=SearchConfig(sweeps=2, width=3, rounds=(4,), confirm=8),
    selection=SelectionConfig(scale=1.0, snapshots=(4,), final=16, states=500, settled=(4, 16)),
)
SMALL: Domain = replace(CARTPOLE, config=CONFIG, models={}, quick={})


def small_cell(
    model: Any, size: int | None, *, beginning: str | None = None, env: str = CARTPOLE.env
) -> Cell:
    """A cell of CartPole, or of another environment that is trained as shortly."""
    overrides = {} if beginning is None else {"candidates.beginnings": [beginning]}
    domain = replace(SMALL, config=replace(CONFIG, env=EnvConfig(env)))
    return cell_of(domain, model, size, 4, overrides)
