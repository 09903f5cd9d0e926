"""The small trainings of the pipeline's tests are wanted here too."""

import sys
from pathlib import Path

sys.path[:0] = [
    str(Path(__file__).parents[1] / "pipeline"),
    str(Path(__file__).parents[2] / "examples"),
]
