"""JAX twins: functional environments that behave as a registered environment does.

A twin lets episodes be compiled whole. Importing this imports no JAX.
"""

import importlib
from typing import TYPE_CHECKING

from crisptree.base.errors import CrisptreeError
from crisptree.envs.encoder import SpaceEncoder
from crisptree.envs.source import SUITES
from crisptree.envs.task import Task

if TYPE_CHECKING:
    from crisptree.envs.functional import FunctionalEnv

_TWINS = {
    "CartPole-v1": "crisptree.envs.cartpole:CartPole",
    "crisptree/Wildfire-v0": "crisptree.envs.wildfire.env:Wildfire",
    "crisptree/Zerglings-v0": "crisptree.envs.zerglings.env:FindAndDefeatZerglings",
}


def register_twin(env_id: str, twin: str) -> None:
    """Say that the class `twin` ("module:Class") behaves as the environment `env_id` does.

    The class is a `FunctionalEnv` that takes the environment's keyword arguments. It is used for
    learning and selection; scores always come from the environment itself.
    """
    if twin.count(":") != 1:
        raise CrisptreeError(f"a twin is named module:Class, not '{twin}'")
    _TWINS[env_id] = twin


def twin_of(task: Task) -> "FunctionalEnv | None":
    """The JAX environment that behaves as the task's does, or None."""
    source = task.source
    if source.features is not None or source.env_id is None:
        return None
    suite, _, env_id = source.env_id.partition(":")
    if suite in SUITES:
        from crisptree.envs.jax_suites import twin_of_suite

        assert isinstance(task.encoder, SpaceEncoder)
        kwargs = dict(source.kwargs)
        return twin_of_suite(suite, env_id, kwargs, task.encoder, task.actions, task.levels)
    if task.levels is not None or not source.is_registered or source.env_id not in _TWINS:
        return None
    module, _, name = _TWINS[source.env_id].partition(":")
    try:
        twin = getattr(importlib.import_module(module), name)(**source.kwargs)
    except TypeError:  # it does not take the arguments that this environment was given
        return None
    return twin if twin.n_features == task.n_features else None


def is_in_jax(task: Task) -> bool:
    """Whether the environment itself is a functional one behind a gymnasium face, so that a seed
    gives the same episode in both."""
    source = task.source
    named = source.env_id or ""
    own = source.is_registered and named in _TWINS and named.startswith("crisptree/")
    return source.features is None and (own or named.partition(":")[0] in SUITES)
