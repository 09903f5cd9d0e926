"""Scores of policies: returns on episodes that were not used to train or choose. No JAX."""

import itertools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.base.text import counted
from crisptree.crisp import CrispTree
from crisptree.envs.feature_function import FeatureFunction
from crisptree.envs.play import OnEpisode
from crisptree.envs.policy import Policy, policy_from, random_policy
from crisptree.envs.rollout import rollout
from crisptree.envs.seeds import block_seed, episode_seeds
from crisptree.envs.source import Env
from crisptree.envs.task import Task, check_fits, task_of, task_of_policy

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
BASELINE_STEPS = 20_000
"""Most steps of one baseline."""
MOST_CONSTANTS = 32
"""Most constant actions that are tried; of more, a random sample."""


@dataclass(frozen=True)
class Score:
    """The returns of a policy, one per episode."""

    env_id: str
    """The environment's name."""
    seed: int
    returns: tuple[float, ...]
    episode_seeds: tuple[int, ...] = ()
    """What each episode was reset with, to look at one again."""
    cut: int = 0
    """Episodes that were stopped at the step limit though they were not over."""

    @property
    def mean(self) -> float:
        return float(np.mean(self.returns))

    @property
    def standard_error(self) -> float | None:
        n = len(self.returns)
        return _spread(self.returns, ddof=1) / math.sqrt(n) if n > 1 else None

    @property
    def quantiles(self) -> dict[str, float]:
        """Returns that 5, 25, 50, 75 and 95 of a hundred episodes stay below."""
        return {f"{q:g}": float(np.quantile(self.returns, q)) for q in QUANTILES}

    @property
    def worst(self) -> dict[str, Any]:
        """The worst episode: its return, its place, and its seed."""
        at = int(np.argmin(self.returns))
        seed = self.episode_seeds[at] if self.episode_seeds else None
        return {"return": self.returns[at], "episode": at, "seed": seed}

    def to_dict(self) -> dict[str, Any]:
        return {
            "env": self.env_id,
            "seed": self.seed,
            "episodes": len(self.returns),
            "mean": self.mean,
            "standard_error": self.standard_error,
            "sd": _spread(self.returns, ddof=0),
            "min": min(self.returns),
            "max": max(self.returns),
            "quantiles": self.quantiles,
            "worst": self.worst,
            "cut": self.cut,
            "returns": list(self.returns),
        }

    def __str__(self) -> str:
        error, quantiles = self.standard_error, self.quantiles
        precise = digits(self.returns, error)
        shown = digits([*self.returns, quantiles["0.05"], quantiles["0.5"]])
        about = f" ± {precise(error)}" if error is not None else ""
        text = (
            f"{self.env_id}: return {precise(self.mean)}{about} over "
            f"{counted(len(self.returns), 'unseen episode')} (worst {shown(min(self.returns))}, "
            f"5% below {shown(quantiles['0.05'])}, median {shown(quantiles['0.5'])}, "
            f"best {shown(max(self.returns))})"
        )
        if self.cut:
            text += f"; {self.cut} did not end and were cut at the step limit"
        return text


def _spread(values: Sequence[float], ddof: int) -> float:
    """The standard deviation. Scaled first: squares of the largest returns would overflow."""
    largest = max(map(abs, values)) or 1.0
    return float(np.std(np.array(values) / largest, ddof=ddof)) * largest


def digits(values: Sequence[float], error: float | None = None) -> Callable[[float], str]:
    """A function that writes numbers with as many decimals as `values` need: two figures of the
    standard error where one is given, else three figures of the values' range."""
    numbers = [abs(float(value)) for value in values] or [0.0]
    scale = error or (max(map(float, values), default=0.0) - min(map(float, values), default=0.0))
    if not scale or not math.isfinite(scale):
        scale = max(numbers)
    figures = 1 if error else 2
    decimals = 0 if not scale else figures - math.floor(math.log10(scale))
    whole = all(value == round(value) for value in numbers) and not error
    places = 0 if whole else min(max(decimals, 0), 6)
    return lambda value: f"{value:z.{places}f}"  # z: never a zero with a minus


def evaluate(
    policy: Any,
    env: Env | Task | None = None,
    *,
    episodes: int = 100,
    seed: int = 0,
    env_kwargs: Mapping[str, Any] | None = None,
    features: FeatureFunction | str | None = None,
    max_steps: int | None = None,
    report: OnEpisode | None = None,
) -> Score:
    """The score of a policy over unseen episodes of the real environment, played greedily.

    `policy` is a crisp tree, the path of its file or of a run, a model with `predict`, or a
    function on batches. `env` may be left out where the policy names its environment. `report` is
    told how many episodes have ended.
    """
    if isinstance(policy, str | PathLike):
        policy = CrispTree.load(policy)
    _check_whole("episodes", episodes, 1)
    _check_whole("seed", seed, 0)
    if max_steps is not None:
        _check_whole("max_steps", max_steps, 1)
    if env_kwargs and env is not None and not isinstance(env, Task):
        task = task_of(env, env_kwargs, features)
        check_fits(policy, task)
    else:
        task = task_of_policy(policy, env, features)
    seeds = episode_seeds("reporting", seed, episodes)
    player = policy_from(policy, task)
    played = rollout([player], task, seeds, max_steps=max_steps, on_episode=report)
    returns = tuple(float(value) for value in played.returns[0])
    return Score(task.name, seed, returns, tuple(seeds), played.cut)


def _check_whole(name: str, value: Any, least: int) -> None:
    if not isinstance(value, int | np.integer):
        raise CrisptreeError(f"{name} must be a whole number, not {value!r}")
    if value < least:
        raise CrisptreeError(f"{name} must be at least {least}, not {value}")


@dataclass(frozen=True)
class Baselines:
    """Mean returns that need no learning: of random actions, and of the best constant action."""

    random_return: float | None
    """None where the time allowed no episode to end."""
    constant_return: float | None
    """None where the time allowed none."""
    constant_action: Any
    """The policy's own action: a number, or a list of numbers."""
    episodes: int


def baseline_returns(
    task: Task,
    seed: int,
    *,
    episodes: int = 64,
    seconds: float = 60.0,
) -> Baselines:
    """The mean returns of random play and of the best constant action.

    Constants race: all of them in a few episodes, the better third in more, the last few in all.
    Fewer episodes are played where they are long. If `seconds` are too few, constants are left out;
    else the same seed gives the same figures. Episodes come from the seeds for selection, since the
    best of many is a choice.
    """
    first = block_seed("selection", episodes, seed)
    began = time.monotonic()

    def means(policies: Sequence[Policy | CrispTree], n: int) -> tuple[np.ndarray, int] | None:
        """Mean returns over the first `n` episodes, and the steps of one; None if too late."""
        if time.monotonic() > began + seconds / 2:
            return None
        deadline = began + seconds
        seeds = range(first, first + n)
        found = rollout(policies, task, seeds, deadline=deadline)
        late = found.cut and time.monotonic() >= deadline
        return None if late else (found.returns.mean(1), int(found.lengths.mean()))

    by_chance = means([random_policy(task, seed)], 2)
    if by_chance is None:
        return Baselines(None, None, None, 0)
    count = min(episodes, max(2, BASELINE_STEPS // max(by_chance[1], 1)))
    rounds = sorted({min(4, count), min(16, count), count})
    played = 2
    for n in rounds:
        more = means([random_policy(task, seed)], n)
        by_chance, played = (more, n) if more is not None else (by_chance, played)
    best, earned = None, None
    constants = constant_actions(task, seed)
    for n in rounds:
        found = means([_always(task, action) for action in constants], n)
        if found is None:
            break
        order = np.argsort(-found[0], kind="stable")
        best, earned = constants[order[0]].tolist(), float(found[0].max())
        constants = [constants[i] for i in order[: max(2, len(constants) // 3)]]
    return Baselines(float(by_chance[0][0]), earned, best, played)


def _always(task: Task, action: np.ndarray) -> CrispTree:
    """A tree of one leaf, since trees are played fastest."""
    signature = {"features": task.features, "actions": task.actions}
    return CrispTree.from_nested(action.tolist(), **signature)


def constant_actions(task: Task, seed: int) -> list[np.ndarray]:
    """Constant actions to try: all of them, or a sample where there are too many. Of real vectors
    the middle, the lowest, the highest and random ones."""
    actions, rng = task.actions, np.random.default_rng(seed)
    if actions.kind == "discrete":
        n = len(actions.names)
        numbers = np.arange(n) if n <= MOST_CONSTANTS else rng.permutation(n)[:MOST_CONSTANTS]
        return [np.array(number) for number in np.sort(numbers)]
    if actions.kind == "multi_discrete":
        sizes = [len(part) for part in actions.choices]
        if math.prod(sizes) <= MOST_CONSTANTS:
            return [np.array(row) for row in itertools.product(*map(range, sizes))]
        rows = [np.zeros(len(sizes), np.int64), np.array(sizes) - 1]
        rows += list(rng.integers(sizes, size=(MOST_CONSTANTS - 2, len(sizes))))
        return rows
    low, high = np.array(actions.low), np.array(actions.high)
    rows = [(low + high) / 2, low, high, np.clip(0.0, low, high)]
    rows += list(rng.uniform(low, high, size=(MOST_CONSTANTS // 2 - len(rows), len(low))))
    return rows
