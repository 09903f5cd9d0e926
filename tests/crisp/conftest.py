"""The tests of several rooms draw random trees from `tree_strategies.py` in this folder."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
