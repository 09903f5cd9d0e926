"""The tests of this folder learn on the small environments of `probe_envs.py`."""

import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")
