"""Small configurations of the pipeline's tests, and the hooks of the documentation, are wanted."""

import sys
from pathlib import Path

tests = Path(__file__).parents[1]
wanted = (tests / "docs", tests / "pipeline", tests.parent / "docs" / "hooks")
sys.path[:0] = [str(folder) for folder in wanted]
