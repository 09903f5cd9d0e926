"""Which environment ids have a functional twin in JAX. Importing this imports no JAX."""

import importlib
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crisptree.envs.functional import FunctionalEnv

FUNCTIONAL = {
    "CartPole-v1": ("crisptree.envs.cartpole", "CartPole"),
    "crisptree/Wildfire-v0": ("crisptree.envs.wildfire.env", "Wildfire"),
    "crisptree/Zerglings-v0": ("crisptree.envs.zerglings.env", "FindAndDefeatZerglings"),
}


def is_functional(env_id: str) -> bool:
    return env_id in FUNCTIONAL


@lru_cache(maxsize=16)
def functional_env(env_id: str) -> "FunctionalEnv":
    """The JAX environment that behaves as `env_id` does."""
    module, name = FUNCTIONAL[env_id]
    return getattr(importlib.import_module(module), name)()
