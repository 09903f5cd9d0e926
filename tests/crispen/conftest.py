"""The random trees of the crisp room's tests and the shapes of the soft room's are wanted here."""

import sys
from pathlib import Path

from hypothesis import settings

tests = Path(__file__).parents[1]
sys.path[:0] = [str(tests / "crisp"), str(tests / "soft")]

settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")
