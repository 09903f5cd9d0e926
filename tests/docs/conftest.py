"""The small recipes of the pipeline's tests serve the documentation's commands too."""

import importlib.util
import sys
from pathlib import Path

tests = Path(__file__).parents[1]
sys.path[:0] = [str(tests / "docs"), str(tests.parent / "docs" / "hooks")]

spec = importlib.util.spec_from_file_location("small_recipes", tests / "pipeline" / "conftest.py")
assert spec is not None and spec.loader is not None
small_recipes = importlib.util.module_from_spec(spec)
spec.loader.exec_module(small_recipes)
tiny = small_recipes.tiny
