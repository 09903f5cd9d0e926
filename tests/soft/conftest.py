"""The tests of this folder draw random shapes from `tree_shapes.py`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
