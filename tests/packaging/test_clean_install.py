"""The wheel, installed by pip into an empty environment, runs a policy; and how large that is.

Packages come from the index that pip knows; where it cannot be reached the tests are skipped.
"""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST_MEGABYTES = 80
BROUGHT_BY_VENV = ("pip", "setuptools", "pkg_resources", "_distutils_hack", "distutils-precedence")
POLICY = str(ROOT / "policies" / "cartpole-tree-4.json")


def installed(python: Path, what: str) -> subprocess.CompletedProcess[str]:
    """By a plain `pip install`, which writes byte code too."""
    install = [str(python), "-m", "pip", "install", "--quiet", what]
    return subprocess.run(install, capture_output=True, text=True)


@pytest.fixture(scope="module", params=[".whl", ".gz"], ids=["wheel", "sdist"])
def python(request, archives, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("clean")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin" / "python"
    done = installed(python, str(archives[request.param]))
    if done.returncode and ("No matching distribution" in done.stderr or "connect" in done.stderr):
        pytest.skip("the package index cannot be reached")
    assert done.returncode == 0, done.stderr
    return python


def said(python: Path, *words: str) -> str:
    done = subprocess.run(
        [str(python), "-I", *words], capture_output=True, text=True, cwd=python.parent
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_runs_a_policy(python):
    assert "pole angle" in said(python, "-m", "crisptree", "show", POLICY)
    out = str(python.parent / "policy.py")
    said(python, "-m", "crisptree", "export", POLICY, "--to", "python", "--out", out)


def test_it_is_small(python):
    """Everything counts, byte code too; what `venv` itself brings does not."""
    (site,) = python.parents[1].glob("lib/*/site-packages")
    files = [
        file
        for file in site.rglob("*")
        if file.is_file() and not file.relative_to(site).parts[0].startswith(BROUGHT_BY_VENV)
    ]
    assert any(file.suffix == ".pyc" for file in files)
    assert sum(file.stat().st_size for file in files) / 1e6 <= MOST_MEGABYTES


def test_with_gymnasium_it_scores_a_policy(python):
    """The last test: the environment is no longer as small after it."""
    assert installed(python, "gymnasium").returncode == 0
    score = said(python, "-m", "crisptree", "evaluate", POLICY, "--episodes", "3")
    assert "return 500 ± 0" in score
