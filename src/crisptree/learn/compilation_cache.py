"""Compiled programs kept on disk, so that the second run of anything starts at once."""

import os
import tempfile
from pathlib import Path

import jax
from jax._src import compilation_cache as _jax_cache


def enable_compilation_cache() -> None:
    """Let JAX keep compiled programs in the user's cache folder, unless a folder is named already.

    Only the command line calls this: a library does not change its caller's settings. A cache that
    cannot be used never stops a training: JAX then compiles anew.
    """
    _notice_damage()
    if "JAX_COMPILATION_CACHE_DIR" in os.environ:
        return
    try:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(base) / "crisptree" / "jax"
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"1")
            probe.flush()
    except (OSError, RuntimeError):  # no such place, or no home
        return
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_raise_persistent_cache_errors", False)
    # The small programs too: a run has dozens of them, and together they take seconds.
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)


def _notice_damage() -> None:
    """Let JAX compress with zlib, whose checksum tells a damaged program from a sound one.

    With zstd, which it takes where that is installed, there is no checksum, and a program with a
    flipped bit crashes the process.
    """
    for name in ("zstd", "zstandard"):
        if hasattr(_jax_cache, name):
            setattr(_jax_cache, name, None)
