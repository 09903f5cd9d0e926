"""Q-learning in environments outside JAX: an update is many rounds of the host loop."""

import numpy as np

from crisptree.learn.hosted import Stage
from crisptree.learn.q_agent import QAgent, after_update
from crisptree.learn.q_config import QLearning


def hosted_update(stage: Stage, agents: QAgent) -> tuple[QAgent, dict[str, np.ndarray]]:
    """`rounds` rounds of acting and learning, and the figures over all of them."""
    config = stage.config
    assert isinstance(config, QLearning)
    logs = []
    for _ in range(config.rounds):
        agents, metrics = stage.update(agents)
        logs.append(metrics)
    every = {name: np.stack([log[name] for log in logs]) for name in logs[0]}
    episodes = every["episodes"].sum(0)
    total = np.nansum(every["return"] * every["episodes"], 0)
    with np.errstate(invalid="ignore"):
        returns = total / episodes
    means = {name: values.mean(0) for name, values in every.items()}
    return after_update(agents, config), {**means, "return": returns, "episodes": episodes}
