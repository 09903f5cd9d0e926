"""Returns on reporting episodes, one number an episode, and greedy policies to be scored."""

import numpy as np

from crisptree.crispen.distill import Teacher
from crisptree.envs.score import Policy, play, quick_play
from crisptree.envs.seeds import block_seed, episode_seeds

SELECTION_EPISODES = 128


class Acting:
    """A function from observations to actions as a policy."""

    def __init__(self, act: Teacher) -> None:
        self._act = act

    def predict(
        self, observation, state=None, episode_start=None, deterministic: bool = True
    ) -> tuple[np.ndarray, None]:
        return self._act(np.asarray(observation, np.float32)), None


def reported(policy: Policy, env_id: str, seed: int, episodes: int) -> tuple[float, ...]:
    """The return of each reporting episode of `seed`: those that `crisptree evaluate` plays."""
    returns = play(policy, env_id, episode_seeds("reporting", seed, episodes))
    return tuple(float(value) for value in returns)


def selected(policy: Policy, env_id: str, seed: int) -> float:
    """Mean return on selection episodes: what runs are chosen by."""
    first = block_seed("selection", SELECTION_EPISODES, seed, 7)
    return float(np.mean(quick_play(policy, env_id, first, SELECTION_EPISODES)))
