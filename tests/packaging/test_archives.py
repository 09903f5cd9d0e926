"""What is in the wheel and the source archive, and that a second build gives the same bytes."""

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def names(archives) -> list[str]:
    return zipfile.ZipFile(archives[".whl"]).namelist()


@pytest.fixture(scope="module")
def metadata(archives, names):
    (name,) = (name for name in names if name.endswith("METADATA"))
    return message_from_string(zipfile.ZipFile(archives[".whl"]).read(name).decode())


def test_a_second_build_gives_the_same_bytes(archives, build, tmp_path):
    again = build(tmp_path)
    assert {kind: file.read_bytes() for kind, file in again.items()} == {
        kind: file.read_bytes() for kind, file in archives.items()
    }


def test_the_wheel_has_the_package_and_nothing_else(names):
    tops = {name.partition("/")[0] for name in names}
    assert tops == {"crisptree", f"crisptree-{PROJECT['version']}.dist-info"}
    assert "crisptree/py.typed" in names
    sources = {
        str(file.relative_to(ROOT / "src"))
        for file in (ROOT / "src" / "crisptree").rglob("*")
        if file.is_file() and file.suffix != ".pyc"
    }
    assert sources <= set(names)


def test_the_source_archive_can_be_tested(archives):
    with tarfile.open(archives[".gz"]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {"pyproject.toml", "README.md", "CHANGELOG.md", "Makefile", "tests/conftest.py"}
    assert wanted | {"policies/cartpole-tree-4.json", "docs/index.md"} <= names
    assert not {name for name in names if name.endswith((".pyc", ".npz")) or "/.venv" in name}


def test_the_archives_are_small(archives):
    assert max(file.stat().st_size for file in archives.values()) < 3_000_000


def test_a_package_index_renders_the_readme(archives, metadata):
    check = [sys.executable, "-m", "twine", "check", "--strict", *map(str, archives.values())]
    done = subprocess.run(check, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    readme = metadata.get_payload()
    assert "# crisptree" in readme and "](docs/" not in readme and "](policies" not in readme


def test_one_version_everywhere():
    version = PROJECT["version"]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    first = re.search(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert first is not None and first[1].split()[0] == version


def test_the_index_gets_addresses(metadata):
    assert metadata.get_all("Project-URL") == ["Paper, https://arxiv.org/abs/1903.09338"]


def test_a_policy_needs_numpy_only(metadata):
    plain = [each for each in metadata.get_all("Requires-Dist") if "extra ==" not in each]
    assert [each.partition(">")[0] for each in plain] == ["numpy"]
    assert "Typing :: Typed" in metadata.get_all("Classifier")
