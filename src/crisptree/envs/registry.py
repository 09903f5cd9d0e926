"""Which environment ids have a twin, in JAX or in NumPy. Importing this imports no JAX."""

import importlib
import math
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crisptree.envs.functional import FunctionalEnv

FUNCTIONAL = {
    "CartPole-v1": ("crisptree.envs.cartpole", "CartPole"),
    "crisptree/Wildfire-v0": ("crisptree.envs.wildfire.env", "Wildfire"),
    "crisptree/Zerglings-v0": ("crisptree.envs.zerglings.env", "FindAndDefeatZerglings"),
}


GREATEST_RETURN = {"CartPole-v1": 500.0}


def is_functional(env_id: str) -> bool:
    return env_id in FUNCTIONAL


def plays_in_rows(env_id: str) -> bool:
    """Whether NumPy plays many of its episodes at once, as gymnasium plays each."""
    return env_id == "CartPole-v1"


def greatest_return(env_id: str) -> float:
    """What no episode can exceed, as far as that is known."""
    return GREATEST_RETURN.get(env_id, math.inf)


@lru_cache(maxsize=16)
def functional_env(env_id: str) -> "FunctionalEnv":
    """The JAX environment that behaves as `env_id` does."""
    module, name = FUNCTIONAL[env_id]
    return getattr(importlib.import_module(module), name)()
