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


@pytest.fixture(scope="module", params=[".whl", ".gz"], ids=["wheel", "sdist"])
def python(request, archives, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("clean")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet", "--no-compile", archives[request.param]]
    done = subprocess.run(list(map(str, install)), capture_output=True, text=True)
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
    score = said(python, "-m", "crisptree", "evaluate", POLICY, "--episodes", "3")
    assert "return 500 ± 0" in score


def test_it_is_small(python):
    (site,) = python.parents[1].glob("lib/*/site-packages")
    files = [
        file
        for file in site.rglob("*")
        if file.is_file() and not file.relative_to(site).parts[0].startswith(BROUGHT_BY_VENV)
    ]
    shipped = [file for file in files if file.suffix != ".pyc"]
    assert sum(file.stat().st_size for file in shipped) / 1e6 <= MOST_MEGABYTES
