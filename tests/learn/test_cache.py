from pathlib import Path

import jax
import pytest

from crisptree.learn.cache import keep_compiled


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
    keep_compiled()
    assert Path(jax.config.jax_compilation_cache_dir) == tmp_path / "crisptree" / "jax"
    assert jax.config.jax_persistent_cache_min_compile_time_secs == 0.0


def test_home_where_no_cache_is_named(monkeypatch, tmp_path):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    keep_compiled()
    assert Path(jax.config.jax_compilation_cache_dir) == tmp_path / ".cache" / "crisptree" / "jax"


def test_a_folder_named_by_the_environment_stays(monkeypatch, tmp_path):
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path / "mine"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    before = jax.config.jax_compilation_cache_dir
    keep_compiled()
    assert jax.config.jax_compilation_cache_dir == before
