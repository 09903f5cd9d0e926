"""Compiled programs are kept on disk, so that the second run of anything starts at once."""

import os
from pathlib import Path

import jax


def keep_compiled() -> None:
    """Use the user's cache folder, unless the environment names another."""
    if "JAX_COMPILATION_CACHE_DIR" in os.environ:
        return
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    jax.config.update("jax_compilation_cache_dir", str(Path(base) / "crisptree" / "jax"))
    # The small programs too: a run has dozens of them, and together they take seconds.
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
