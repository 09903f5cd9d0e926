"""The tests of several rooms draw random trees from `tree_strategies.py` in this folder."""

import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

# The first call of a type-checked function is slow, and a shared machine slower.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")
