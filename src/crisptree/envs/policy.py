"""One protocol of policies for trees, networks and models of other libraries. No JAX here."""

import inspect
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import gymnasium as gym
import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.envs.action_spaces import own_actions, sample_actions
from crisptree.envs.encoder import SpaceEncoder
from crisptree.envs.guard import reason
from crisptree.envs.task import Task


@runtime_checkable
class Policy(Protocol):
    """Maps a batch of observations to actions."""

    def act(self, observations: np.ndarray, /) -> np.ndarray:
        """The policy's own actions for rows `(B, F)`: choices counted from 0 `(B,)`, one for each
        part `(B, parts)`, or real vectors `(B, dims)`."""
        ...


class FunctionPolicy:
    """A policy from a function on batches that gives the policy's own actions."""

    def __init__(self, function: Callable[[np.ndarray], np.ndarray]) -> None:
        self._function = function

    def act(self, observations: np.ndarray) -> np.ndarray:
        return self._function(observations)


def policy_from(predictor: Any, task: Task) -> Policy:
    """A policy from what a user has: an object with `act`, a model with `predict` (as those
    of Stable-Baselines3 and scikit-learn), or a function on a batch of observations.

    Models and functions answer with the environment's own actions, so that `start` is taken off. A
    model that knows its `observation_space` gets the environment's own observations, others the
    features. They are tried once, on a batch of two.
    """
    if isinstance(predictor, Policy):
        return predictor
    if hasattr(predictor, "predict"):
        ask = _asker(predictor, task)
    elif callable(predictor):
        ask = predictor
    else:
        raise CrisptreeError("a policy must be callable on a batch, or have a predict method")

    def act(observations: np.ndarray) -> np.ndarray:
        answer = np.asarray(ask(observations))
        if answer.shape[:1] != observations.shape[:1]:
            raise CrisptreeError(
                f"the policy gives {answer.shape[0] if answer.ndim else 1} actions for "
                f"{len(observations)} observations; it must give one for each"
            )
        _check_answer(answer, task)
        return own_actions(task.actions, answer)

    try:
        tried = act(np.zeros((2, task.n_features), np.float32))
    except CrisptreeError:
        raise
    except Exception as error:
        raise CrisptreeError(
            f"the policy fails on a batch of {task.n_features} features: {reason(error)}"
        ) from error
    check_actions(tried, task)
    return FunctionPolicy(act)


def _check_answer(answer: np.ndarray, task: Task) -> None:
    """Refuse answers of another size, and real actions that are no numbers."""
    actions, size = task.actions, answer.size // max(len(answer), 1)
    needed = 1 if actions.kind == "discrete" else actions.n_values
    if len(answer) and size != needed:
        raise CrisptreeError(
            f"the policy gives {size} numbers for each observation; '{task.name}' needs {needed}"
        )
    if actions.kind == "box" and not np.isfinite(answer).all():
        raise CrisptreeError(
            f"the policy must give {needed} finite numbers for each observation of '{task.name}'"
        )


def _asker(model: Any, task: Task) -> Callable[[np.ndarray], Any]:
    # Stable-Baselines3 samples unless told not to, and a sampled action teaches noise.
    samples = "deterministic" in inspect.signature(model.predict).parameters
    options = {"deterministic": True} if samples else {}
    encoder = task.encoder
    wants_raw = isinstance(encoder, SpaceEncoder) and _takes_raw(model, task)

    def ask(observations: np.ndarray) -> Any:
        if wants_raw and isinstance(encoder, SpaceEncoder):
            observations = encoder.raw(observations)
        answer = model.predict(observations, **options)
        return answer[0] if isinstance(answer, tuple) else answer

    return ask


def _takes_raw(model: Any, task: Task) -> bool:
    """Whether a model was trained on the environment's own observations, not on our features."""
    space = getattr(model, "observation_space", None)
    flat = isinstance(space, gym.spaces.Box) and space.shape == (task.n_features,)
    return isinstance(space, gym.Space) and not flat and task.n_agents is None


def check_actions(chosen: np.ndarray, task: Task) -> None:
    """Refuse actions that the task does not have."""
    actions = task.actions
    if actions.kind == "discrete":
        fits = chosen.ndim == 1 and np.isin(chosen, np.arange(len(actions.names))).all()
        needs = f"one action (0 to {len(actions.names) - 1})"
    elif actions.kind == "multi_discrete":
        sizes = np.array([len(part) for part in actions.choices])
        fits = chosen.shape[1:] == sizes.shape and ((chosen >= 0) & (chosen < sizes)).all()
        needs = f"{len(sizes)} choices"
    else:
        fits = chosen.shape[1:] == (actions.n_values,) and np.isfinite(chosen).all()
        needs = f"{actions.n_values} finite numbers"
    if not fits:
        raise CrisptreeError(f"the policy must give {needs} for each observation of '{task.name}'")


def random_policy(task: Task, seed: int) -> Policy:
    """A policy of uniformly random actions; each call draws the next ones from one generator."""
    rng = np.random.default_rng(seed)
    return FunctionPolicy(lambda rows: sample_actions(task.actions, len(rows), rng))
