"""The tests of this folder draw random shapes from `tree_shapes.py`."""

import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")
