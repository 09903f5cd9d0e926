"""From action spaces to `Actions`, and from a policy's own actions to the environment's. No JAX."""

import itertools
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from crisptree.base.errors import CrisptreeError
from crisptree.crisp.signature import Actions
from crisptree.envs.names import Names

MOST_ACTIONS = 4096


def actions_of(space: gym.Space, env_name: str, names: Names) -> Actions:
    """What a policy may do in this action space, or a refusal in one line."""
    if isinstance(space, spaces.Discrete):
        return _discrete(int(space.n), int(space.start), env_name, names)
    if isinstance(space, spaces.MultiDiscrete):
        start = np.broadcast_to(space.start, space.nvec.shape)
        return _several(space.nvec, start, str(space.dtype), env_name, names)
    if isinstance(space, spaces.MultiBinary):
        two = np.full(space.shape, 2)
        return _several(two, np.zeros_like(two), str(space.dtype), env_name, names)
    if isinstance(space, spaces.Box) and space.dtype.kind in "iu":
        return _whole_numbers(space, env_name, names)
    if isinstance(space, spaces.Box):
        return _box(space, env_name, names)
    raise CrisptreeError(
        f"'{env_name}' has {type(space).__name__} actions; crisptree takes Discrete, "
        "MultiDiscrete, MultiBinary and Box"
    )


def team_actions(space: spaces.MultiDiscrete, env_name: str, names: Names) -> Actions:
    """One agent's actions, where all agents of a team have the same."""
    return _discrete(int(space.nvec[0]), 0, env_name, names)


def _discrete(n: int, start: int, env_name: str, names: Names) -> Actions:
    if n < 2:
        raise CrisptreeError(f"'{env_name}' has one action: there is nothing to decide")
    _check_count(n, env_name)
    own = tuple(f"action {start + i}" for i in range(n))  # as the environment counts them
    return Actions.discrete(names.of_actions(n, own), start)


def _several(
    sizes: np.ndarray, start: np.ndarray, dtype: str, env_name: str, names: Names
) -> Actions:
    sizes_flat, start_flat = sizes.ravel().tolist(), start.ravel().tolist()
    if max(sizes_flat, default=1) < 2:
        raise CrisptreeError(f"'{env_name}' has one action: there is nothing to decide")
    _check_count(sum(sizes_flat), env_name)
    parts = names.of_actions(len(sizes_flat), _entry_names(sizes.shape))
    choices = names.choices
    if choices is None:
        choices = tuple(
            tuple(str(first + k) for k in range(n))
            for n, first in zip(sizes_flat, start_flat, strict=True)
        )
    elif [len(part) for part in choices] != sizes_flat:
        raise CrisptreeError(
            f"the metadata of '{env_name}' give action_choices of sizes "
            f"{[len(part) for part in choices]}; they must be {sizes_flat}"
        )
    return Actions(
        "multi_discrete",
        parts,
        choices=choices,
        start=tuple(start_flat) if any(start_flat) else (),
        dtype=dtype,
        shape=sizes.shape if sizes.ndim != 1 else (),
    )


def _whole_numbers(space: spaces.Box, env_name: str, names: Names) -> Actions:
    """A Box of whole numbers: a choice among those between its bounds, for each entry."""
    low, high = space.low.ravel().tolist(), space.high.ravel().tolist()  # never overflow
    sizes = [int(most) - int(least) + 1 for least, most in zip(low, high, strict=True)]
    _check_count(sum(sizes), env_name)
    shaped = np.array(sizes, np.int64).reshape(space.shape)
    start = np.array(low, np.int64).reshape(space.shape)
    return _several(shaped, start, str(space.dtype), env_name, names)


def _box(space: spaces.Box, env_name: str, names: Names) -> Actions:
    if space.dtype not in (np.float32, np.float64):
        raise CrisptreeError(
            f"'{env_name}' has {space.dtype} actions; crisptree takes float32, float64 and whole "
            "numbers"
        )
    low, high = space.low.ravel().astype(np.float64), space.high.ravel().astype(np.float64)
    if not low.size:
        raise CrisptreeError(f"'{env_name}' has actions of no numbers: there is nothing to decide")
    _check_count(low.size, env_name)
    for at, (least, most) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
        if not (np.isfinite(least) and np.isfinite(most)) or max(abs(least), abs(most)) > 1e30:
            raise CrisptreeError(
                f"'{env_name}' has an action without bounds (number {at} goes from {least:g} to "
                f"{most:g}); crisptree needs finite ones (gymnasium.wrappers.RescaleAction or the "
                "environment's action_space can give them)"
            )
        if not least < most:
            raise CrisptreeError(
                f"'{env_name}' has an action with nothing to choose (number {at} goes from "
                f"{least:g} to {most:g}); the lower bound must be below the upper one"
            )
    shape = tuple(space.shape)
    return Actions.box(
        names.of_actions(low.size, _entry_names(shape)),
        tuple(low.tolist()),
        tuple(high.tolist()),
        dtype=str(space.dtype),
        shape=shape if len(shape) != 1 else (),
    )


def _check_count(n: int, env_name: str) -> None:
    if n > MOST_ACTIONS:
        raise CrisptreeError(
            f"'{env_name}' has {n:,} actions; a readable tree has at most {MOST_ACTIONS:,}"
        )


def _entry_names(shape: tuple[int, ...]) -> tuple[str, ...]:
    if not shape:
        return ("action",)
    return tuple(
        "action" + "".join(f"[{i}]" for i in index)
        for index in itertools.product(*(range(length) for length in shape))
    )


def environment_actions(actions: Actions, chosen: np.ndarray) -> list[Any]:
    """The environment's own actions for a batch of the policy's: `start` added, clipped to the
    bounds, in the environment's type and shape."""
    if actions.kind == "discrete":
        start = actions.start[0] if actions.start else 0
        return (np.asarray(chosen) + start).tolist()
    shape = actions.shape or (actions.n_values,)
    if actions.kind == "multi_discrete":
        whole = np.asarray(chosen) + np.asarray(actions.start or 0)
        return list(whole.astype(actions.dtype).reshape(len(whole), *shape))
    clipped = np.clip(np.asarray(chosen, np.float64), actions.low, actions.high)
    return list(clipped.astype(actions.dtype).reshape(len(clipped), *shape))


def own_actions(actions: Actions, given: np.ndarray) -> np.ndarray:
    """The policy's own actions for a batch of the environment's: the way back."""
    n = len(given)
    if actions.kind == "discrete":
        start = actions.start[0] if actions.start else 0
        return np.asarray(given).reshape(n).astype(np.int64) - start
    flat = np.asarray(given).reshape(n, actions.n_values)
    if actions.kind == "multi_discrete":
        return flat.astype(np.int64) - np.asarray(actions.start or 0)
    return np.clip(flat.astype(np.float64), actions.low, actions.high)


def sample_actions(actions: Actions, n: int, rng: np.random.Generator) -> np.ndarray:
    """`n` uniformly random actions, as a policy gives them."""
    if actions.kind == "discrete":
        return rng.integers(len(actions.names), size=n)
    if actions.kind == "multi_discrete":
        return rng.integers([len(part) for part in actions.choices], size=(n, actions.n_values))
    return rng.uniform(actions.low, actions.high, size=(n, actions.n_values))
