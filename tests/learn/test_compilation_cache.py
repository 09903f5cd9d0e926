import os
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import jax
import pytest
from jax._src import compilation_cache

from crisptree.learn.compilation_cache import enable_compilation_cache

SETTINGS: Any = jax.config


@pytest.fixture(autouse=True)
def untouched(monkeypatch):
    """JAX's settings as they were."""
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    names = ("jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs")
    before = {name: getattr(jax.config, name) for name in names}
    yield
    for name, value in before.items():
        jax.config.update(name, value)


def test_programs_go_to_the_users_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    enable_compilation_cache()
    assert Path(SETTINGS.jax_compilation_cache_dir) == tmp_path / "crisptree" / "jax"
    assert SETTINGS.jax_persistent_cache_min_compile_time_secs == 0.0


def test_home_where_no_cache_is_named(monkeypatch, tmp_path):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    enable_compilation_cache()
    assert Path(SETTINGS.jax_compilation_cache_dir) == tmp_path / ".cache" / "crisptree" / "jax"


def test_a_folder_named_by_the_environment_stays(monkeypatch, tmp_path):
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path / "mine"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    before = SETTINGS.jax_compilation_cache_dir
    enable_compilation_cache()
    assert SETTINGS.jax_compilation_cache_dir == before


def test_a_cache_that_cannot_be_made_is_gone_without(monkeypatch, tmp_path):
    (tmp_path / "crisptree").write_text("a file where a folder should be")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    before = SETTINGS.jax_compilation_cache_dir
    enable_compilation_cache()
    assert SETTINGS.jax_compilation_cache_dir == before


def test_damage_is_noticed_where_zstandard_is_installed_too(monkeypatch, tmp_path):
    """JAX prefers it, and lets it write no checksum."""
    for name in ("zstd", "zstandard"):
        monkeypatch.setattr(compilation_cache, name, object(), raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    enable_compilation_cache()
    kept = bytearray(compilation_cache.compress_executable(b"a program"))
    kept[-1] ^= 1
    with pytest.raises(zlib.error):
        compilation_cache.decompress_executable(bytes(kept))


PROGRAM = """
from crisptree.learn.compilation_cache import enable_compilation_cache
enable_compilation_cache()
import jax
print(jax.jit(lambda x: x * 3 + 1)(2.0))
"""


def test_damaged_programs_are_compiled_anew(tmp_path):
    """A run, its cache spoilt, and the run again."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}

    def run() -> str:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert run() == "7.0"
    kept = [path for path in (tmp_path / "crisptree" / "jax").iterdir() if path.is_file()]
    assert kept
    for path in kept:
        path.write_bytes(b"nonsense")
    assert run() == "7.0"
