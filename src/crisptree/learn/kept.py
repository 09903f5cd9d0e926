"""Trainings that are kept on disk as they were traced.

JAX keeps what it has compiled, but only finds it by what Python traces: a second of a run that
takes four. What was traced is kept here, beside the compiled programs, under a name made of all
that it depends on: the sources of this package, the versions of what traces, the settings, and
the shapes of the arguments.
"""

import contextlib
import hashlib
import json
import re
from collections.abc import Callable
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.export  # a module that `import jax` leaves out
import numpy as np

import crisptree
from crisptree.crisp.atomic import write_atomically


class Kept:
    """`advance(agents, scenes, n, rates)`, which gives agents and scenes of the same structure and
    a dictionary, compiled with `options`; `described` is what it is made of."""

    def __init__(self, advance: Callable, options: dict[str, Any], described: Any) -> None:
        self._advance, self._options, self._described = advance, options, repr(described)
        self._lowered: dict[str, tuple[jax.stages.Lowered, list[str]]] = {}
        self._compiled: dict[str, jax.stages.Compiled] = {}

    def lower(self, *arguments: Any) -> None:
        """All that is Python's work before the first call with arguments of this kind."""
        self._lower(*_parted(arguments))

    def __call__(self, *arguments: Any) -> tuple[Any, Any, dict[str, jax.Array]]:
        leaves, tree, static = _parted(arguments)
        about, (lowered, names) = self._lower(leaves, tree, static)
        if about not in self._compiled:
            self._compiled[about] = lowered.compile()
        agents, scenes, *_ = jax.tree.unflatten(tree, leaves)
        structure = jax.tree.structure((agents, scenes, dict.fromkeys(names, 0)))
        results = jax.tree.unflatten(structure, self._compiled[about](*leaves))
        return eqx.combine(results[0], static[0]), eqx.combine(results[1], static[1]), results[2]

    def _lower(
        self, leaves: list, tree: Any, static: Any
    ) -> tuple[str, tuple[jax.stages.Lowered, list[str]]]:
        """What the program is, and the program of bare leaves with the names of what it logs."""
        kinds = [(leaf.shape, str(leaf.dtype)) for leaf in leaves]
        # Functions are told by their names; where they lie in memory changes from run to run.
        about = re.sub(r" at 0x[0-9a-f]+", "", f"{self._described} {tree} {static} {kinds}")
        if about not in self._lowered:
            path = _path_for(about)
            exported, names = _read(path) or self._traced(leaves, tree, static, path)
            program = jax.jit(exported.call, compiler_options=self._options)
            self._lowered[about] = program.lower(*leaves), names
        return about, self._lowered[about]

    def _traced(self, leaves: list, tree: Any, static: Any, path: Path | None) -> tuple[Any, list]:
        names: list[str] = []

        def bare(*leaves):
            arguments = eqx.combine(jax.tree.unflatten(tree, leaves), static)
            agents, scenes, log = self._advance(*arguments)
            names[:] = sorted(log)
            return jax.tree.leaves((eqx.filter((agents, scenes), eqx.is_array), log))

        shapes = [jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for leaf in leaves]
        exported = jax.export.export(jax.jit(bare))(*shapes)
        if path is not None:
            with contextlib.suppress(OSError):  # a full or read-only disk keeps nothing
                path.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(path, json.dumps(names).encode() + b"\n" + exported.serialize())
        return exported, names


def _parted(arguments: tuple) -> tuple[list, Any, Any]:
    """Leaves that are numbers, their tree, and all that is none."""
    arguments = jax.tree.map(lambda x: np.asarray(x) if np.isscalar(x) else x, arguments)
    arrays, static = eqx.partition(arguments, lambda x: isinstance(x, jax.Array | np.ndarray))
    leaves, tree = jax.tree.flatten(arrays)
    return leaves, tree, static


def _read(path: Path | None) -> tuple[Any, list[str]] | None:
    """What was kept there, if it can be read."""
    if path is None or not path.exists():
        return None
    try:
        names, _, traced = path.read_bytes().partition(b"\n")
        return jax.export.deserialize(bytearray(traced)), json.loads(names)
    except Exception:  # whatever half a file or another version's makes of the reader
        return None


def _path_for(about: str) -> Path | None:
    folder = jax.config.values["jax_compilation_cache_dir"]
    if folder is None:
        return None
    wide = jax.config.values["jax_enable_x64"]
    key = f"{_sources()} {jax.default_backend()} {wide} {about}"
    return Path(folder) / "traced" / hashlib.sha256(key.encode()).hexdigest()


@lru_cache(maxsize=1)
def _sources() -> str:
    """A hash of this package's sources and of the versions of what traces them."""
    found = hashlib.sha256()
    for name in ("jax", "jaxlib", "equinox", "optax"):
        found.update(f"{name} {version(name)}".encode())
    for path in sorted(Path(crisptree.__file__).parent.rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()
