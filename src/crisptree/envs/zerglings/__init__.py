"""FindAndDefeatZerglings (§6.3 of the paper): `env` simulates it, `names` needs no JAX."""

from crisptree.envs.zerglings.names import ACTION_NAMES as ACTION_NAMES
from crisptree.envs.zerglings.names import FEATURE_NAMES as FEATURE_NAMES
