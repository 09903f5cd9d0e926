"""A wheel and a source archive of this tree, built once."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def build() -> Callable[[Path], dict[str, Path]]:
    """Builds this tree into a folder, without a network; the archives by their suffix."""
    pytest.importorskip("build")

    def built(out: Path) -> dict[str, Path]:
        subprocess.run(
            [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT)],
            check=True,
            capture_output=True,
            env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"},
        )
        return {file.suffix: file for file in out.iterdir()}

    return built


@pytest.fixture(scope="session")
def archives(build, tmp_path_factory) -> dict[str, Path]:
    return build(tmp_path_factory.mktemp("dist"))
