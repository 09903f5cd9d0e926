"""The hint that names the extra brings the package: pyproject.toml says so too."""

import re
import tomllib
from pathlib import Path

import pytest

from crisptree.base.extras import EXTRA_OF, missing_extra

ROOT = Path(__file__).parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
DISTRIBUTION_OF = {
    "Box2D": "gymnasium[box2d",
    "pygame": "gymnasium[box2d",
    "jaxlib": "jax",
    "sklearn": "scikit-learn",
    "stable_baselines3": "stable-baselines3",
    "sc2": "burnysc2",
    "z3": "z3-solver",
    "psycopg": "psycopg[binary",
    "highway_env": "highway-env",
}
"""What brings a package, where the names differ."""


@pytest.mark.parametrize(("package", "extra"), EXTRA_OF.items())
def test_the_extra_brings_the_package(package, extra):
    wanted = DISTRIBUTION_OF.get(package, package)
    assert any(line.startswith(wanted) for line in EXTRAS[extra])


def test_every_extra_named_in_the_sources_exists():
    named = set()
    for file in (ROOT / "src").rglob("*.py"):
        for group in re.findall(r"crisptree\[([a-z0-9,]+)\]", file.read_text(encoding="utf-8")):
            named |= set(group.split(","))
    assert named and named <= set(EXTRAS)


def test_a_missing_submodule_is_its_package():
    error = ModuleNotFoundError("No module named 'jax.numpy'", name="jax.numpy")
    assert missing_extra(error, "crisptree train") == (
        "crisptree train needs the package jax: pip install 'crisptree[train]'"
    )


@pytest.mark.parametrize("name", [None, "crisptree.nowhere", "os"])
def test_what_no_extra_brings_has_no_hint(name):
    assert missing_extra(ImportError("no", name=name), "it") is None
