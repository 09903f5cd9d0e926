"""What a policy is worth: returns on episodes that nothing was trained or chosen on. No JAX."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.envs.score import Policy, play
from crisptree.envs.seeds import episode_seeds
from crisptree.envs.spaces import describe


@dataclass(frozen=True)
class Score:
    env_id: str
    seed: int
    returns: tuple[float, ...]

    @property
    def mean(self) -> float:
        return float(np.mean(self.returns))

    @property
    def standard_error(self) -> float | None:
        n = len(self.returns)
        return float(np.std(self.returns, ddof=1) / np.sqrt(n)) if n > 1 else None

    def to_dict(self) -> dict[str, Any]:
        return {
            "env": self.env_id,
            "seed": self.seed,
            "episodes": len(self.returns),
            "mean": self.mean,
            "standard_error": self.standard_error,
            "sd": float(np.std(self.returns)),
            "min": min(self.returns),
            "max": max(self.returns),
            "returns": list(self.returns),
        }

    def __str__(self) -> str:
        error = self.standard_error
        about = f" ± {error:.2f}" if error is not None else ""
        return (
            f"{self.env_id}: return {self.mean:.2f}{about} over {len(self.returns)} unseen "
            "episodes "
            f"(least {min(self.returns):.1f}, most {max(self.returns):.1f})"
        )


def evaluate(
    policy: Policy,
    env_id: str | None = None,
    *,
    episodes: int = 100,
    seed: int = 0,
    report: Callable[[int], None] | None = None,
) -> Score:
    """Play `episodes` reporting episodes in gymnasium's own environment, greedily."""
    env_id = env_id or getattr(policy, "env_id", None)
    if env_id is None:
        raise CrisptreeError("the policy does not name its environment: give one with --env")
    task = describe(env_id)
    for what in ("features", "actions"):
        has, needs = getattr(policy, f"n_{what}", None), getattr(task, f"n_{what}")
        if has is not None and has != needs:
            raise CrisptreeError(f"the policy has {has} {what}, {env_id} has {needs}")
    returns = play(policy, env_id, episode_seeds("reporting", seed, episodes), report=report)
    return Score(env_id, seed, tuple(float(value) for value in returns))
