"""The StarCraft tests talk to `fake_starcraft.py` in this folder."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
