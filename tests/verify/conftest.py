"""The random trees of the crisp room's tests are wanted here too."""

import sys
from pathlib import Path

from hypothesis import settings

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "crisp")]

settings.register_profile("steady", deadline=None, derandomize=True, max_examples=30)
settings.load_profile("steady")
