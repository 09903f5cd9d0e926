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
        timeout=900,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def cache(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def sound(cache) -> tuple[str, dict[Path, bytes]]:
    """What the program says, and the files that it leaves."""
    said = run(cache)
    folder = cache / "crisptree" / "jax"
    return said, {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}


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
def test_damaged(sound, cache, number):
    """In the same folder: JAX looks for other names in another."""
    (said, files), rng = sound, Random(number)
    for path, content in files.items():
        path.write_bytes(damaged(content, rng))
    assert run(cache) == said
    assert {path for path in (cache / "crisptree" / "jax").iterdir() if path.is_file()} == {*files}


@pytest.mark.parametrize("size", [0, 1000])
def test_full(sound, size, tmp_path):
    assert run(tmp_path, str(size)) == sound[0]


@pytest.mark.parametrize("what", ["a file", "nowhere", "folders"])
def test_foreign(sound, cache, what, tmp_path):
    said, files = sound
    match what:
        case "nowhere":
            assert run(Path("/proc/no/such")) == said
        case "a file":
            (tmp_path / "crisptree").write_text("mine")
            assert run(tmp_path) == said
        case "folders":
            for path in files:
                path.unlink(missing_ok=True)
                path.mkdir()
            assert run(cache) == said
