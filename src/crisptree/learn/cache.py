"""Compiling: little of it for what runs for seconds, and all programs are kept on disk, so that the
second run of anything starts at once."""

import os
from pathlib import Path
from typing import Any

import jax

from crisptree.learn.config import AnyLearning, Learning

QUICK = {"xla_backend_optimization_level": 1, "xla_cpu_use_fusion_emitters": False}
"""Half of the time to compile; what was compiled is a third slower (docs/speed.md)."""


def is_quick(config: AnyLearning) -> bool:
    """Whether compiling counts for more than running."""
    return isinstance(config, Learning) and config.compiling == "quick"


def options_for(config: AnyLearning, *, once: bool = False) -> dict[str, Any]:
    """The compiler's: as much optimising as `config` asks for, in a program that runs `once` none
    at all."""
    if not is_quick(config):
        return {}
    return {**QUICK, "xla_backend_optimization_level": 0} if once else QUICK


def keep_compiled() -> None:
    """Use the user's cache folder, unless the environment names another."""
    if "JAX_COMPILATION_CACHE_DIR" in os.environ:
        return
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    jax.config.update("jax_compilation_cache_dir", str(Path(base) / "crisptree" / "jax"))
    # The small programs too: a run has dozens of them, and together they take seconds.
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
