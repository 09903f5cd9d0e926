"""A cache of compiled programs that cannot be written, is full, somebody else's, or damaged."""

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

KIND = "damaged, full and foreign caches"
FLIPS = 16
PROGRAM = """
import resource, sys
from crisptree.learn.compilation_cache import enable_compilation_cache
enable_compilation_cache()
if len(sys.argv) > 1:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
import jax, jax.numpy as jnp
x = jnp.arange(12.0).reshape(3, 4)
print(float(jax.jit(lambda x: jnp.sin(x) @ x.T + jnp.sort(x.ravel())[:3].sum())(x).sum()))
"""

pytestmark = pytest.mark.faults


def run(cache: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        env={**os.environ, "XDG_CACHE_HOME": str(cache)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> tuple[str, dict[str, bytes]]:
    """What the program says, and the files that it leaves."""
    cache = tmp_path_factory.mktemp("cache")
    said = run(cache)
    folder = cache / "crisptree" / "jax"
    return said, {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def damaged(content: bytes, rng: Random) -> bytes:
    data = bytearray(content)
    match rng.choice(["flip", "flip", "flip", "cut", "empty", "other"]):
        case "flip":
            for _ in range(rng.choice([1, 1, 30])):
                data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        case "cut":
            del data[rng.randrange(len(data)) :]
        case "empty":
            data.clear()
        case "other":
            data = bytearray(rng.randbytes(len(data)))
    return bytes(data)


@pytest.mark.parametrize("number", range(FLIPS))
def test_damaged(sound, number, tmp_path):
    said, files = sound
    folder, rng = tmp_path / "crisptree" / "jax", Random(number)
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(damaged(content, rng))
    assert run(tmp_path) == said


@pytest.mark.parametrize("size", [0, 1000])
def test_full(sound, size, tmp_path):
    assert run(tmp_path, str(size)) == sound[0]


@pytest.mark.parametrize("what", ["a file", "nowhere", "folders"])
def test_foreign(sound, what, tmp_path):
    said, files = sound
    if what == "nowhere":
        assert run(Path("/proc/no/such")) == said
        return
    if what == "a file":
        (tmp_path / "crisptree").write_text("mine")
    else:
        for name in files:
            (tmp_path / "crisptree" / "jax" / name).mkdir(parents=True)
    assert run(tmp_path) == said
