"""The random trees of the crisp room's tests are wanted here too."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "crisp")]
