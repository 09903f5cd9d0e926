"""Random trees, soft shapes and small environments of the other rooms' tests are wanted here."""

import sys
from pathlib import Path

tests = Path(__file__).parents[1]
sys.path[:0] = [str(tests / room) for room in ("crisp", "crispen", "soft", "learn")]
