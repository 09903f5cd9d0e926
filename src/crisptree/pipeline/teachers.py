"""Whom a tree can learn from: our own agents, or what people have already."""

import importlib
import inspect
from pathlib import Path
from typing import Any

import jax
import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.crispen.distill import Teacher
from crisptree.envs.spaces import Task
from crisptree.learn.agent import Learner

BATCH = 8192


def greedy(agent: Learner) -> Teacher:
    """The likeliest action of a soft agent. Batches are padded to a few sizes: few programs."""
    act = jax.jit(lambda states: agent.log_policy(states).argmax(-1))

    def teach(states: np.ndarray) -> np.ndarray:
        parts = []
        for start in range(0, len(states), BATCH):
            part = np.asarray(states[start : start + BATCH], np.float32)
            room = (1 << max(5, (len(part) - 1).bit_length())) - len(part)
            padded = np.pad(part, ((0, room), (0, 0)))
            parts.append(np.asarray(act(padded))[: len(part)])
        return np.concatenate(parts)

    return teach


def external_teacher(name: str, task: Task) -> Teacher:
    """A policy file, a Stable-Baselines3 zip, or `module:name` of a callable or a predictor."""
    path = Path(name)
    if path.suffix == ".zip":
        return as_teacher(_stable_baselines(path), task)
    if path.suffix == ".json":
        return as_teacher(CrispTree.load(path), task)
    module, _, attribute = name.partition(":")
    if not attribute:
        raise CrisptreeError(
            f"no teacher '{name}': give soft, mlp, a policy .json, a Stable-Baselines3 .zip or "
            "module:name"
        )
    try:
        return as_teacher(getattr(importlib.import_module(module), attribute), task)
    except (ImportError, AttributeError) as error:
        raise CrisptreeError(f"cannot import the teacher '{name}': {error}") from error


def as_teacher(expert: Any, task: Task) -> Teacher:
    """Anything with `predict`, or any callable on a batch, tried once on a batch of two."""
    if hasattr(expert, "predict"):
        # Stable-Baselines3 samples unless told not to, and a sampled action teaches noise.
        samples = "deterministic" in inspect.signature(expert.predict).parameters
        how = {"deterministic": True} if samples else {}

        def teach(states: np.ndarray) -> np.ndarray:
            answer = expert.predict(states, **how)
            return np.asarray(answer[0] if isinstance(answer, tuple) else answer).reshape(-1)

    elif callable(expert):

        def teach(states: np.ndarray) -> np.ndarray:
            return np.asarray(expert(states)).reshape(-1)

    else:
        raise CrisptreeError("a teacher must be callable on a batch, or have a predict method")
    try:
        actions = teach(np.zeros((2, task.n_features), np.float32))
    except Exception as error:
        raise CrisptreeError(
            f"the teacher fails on a batch of {task.n_features} features: {error}"
        ) from error
    if actions.shape != (2,) or not np.isin(actions, np.arange(task.n_actions)).all():
        raise CrisptreeError(
            f"the teacher must give one action (0 to {task.n_actions - 1}) an observation"
        )
    return lambda states: teach(states).astype(np.int64)


def _stable_baselines(path: Path) -> Any:
    try:
        import stable_baselines3 as sb3  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise CrisptreeError(
            "a Stable-Baselines3 teacher needs the package: pip install 'crisptree[sb3]'"
        ) from error
    if not path.exists():
        raise CrisptreeError(f"no file {path}")
    for algorithm in (sb3.PPO, sb3.DQN, sb3.A2C):
        try:
            return algorithm.load(path, device="cpu")
        except Exception:
            continue
    raise CrisptreeError(f"{path} is not a PPO, DQN or A2C model of Stable-Baselines3")
