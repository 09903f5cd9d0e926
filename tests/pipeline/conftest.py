"""Trees for CartPole come from the tests of the crispen room."""

import sys
from pathlib import Path

tests = Path(__file__).parents[1]
sys.path[:0] = [str(tests / room) for room in ("crispen", "pipeline")]
