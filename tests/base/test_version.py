"""The version is the installed package's."""

import importlib.metadata
import subprocess
import sys

import crisptree
from crisptree.base import version


def test_the_version_is_that_of_the_package():
    assert crisptree.__version__ == version.crisptree_version()
    assert "__version__" in dir(crisptree)


def test_sources_without_an_install_have_a_version_too(monkeypatch):
    def nothing(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(version, "version", nothing)
    assert version.crisptree_version() == "0+unknown"


def test_python_dash_m_is_the_command_line():
    command = [sys.executable, "-m", "crisptree", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == version.crisptree_version()
