"""The tests of this folder learn on the small environments of `probe_envs.py`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
