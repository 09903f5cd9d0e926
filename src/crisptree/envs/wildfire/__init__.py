"""Wildfire tracking (§6.2 of the paper): `env` has the environment, `names` needs no JAX."""

from crisptree.envs.wildfire.names import ACTION_NAMES as ACTION_NAMES
from crisptree.envs.wildfire.names import FEATURE_NAMES as FEATURE_NAMES
