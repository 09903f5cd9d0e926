"""Programs that are kept on disk as they were compiled.

JAX keeps what it has compiled as well, but finds it only by what Python traces, which is a second
of a run that takes three. Here a program has a name made of all that it depends on: the sources of
this package, the versions of what compiles them, the machine, the settings, and the shapes of the
arguments. Like JAX's own, these files are code: they lie in the user's cache, and nowhere else.
"""

import contextlib
import hashlib
import os
import pickle
import platform
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jax.experimental.compilation_cache.compilation_cache import reset_cache
from jax.experimental.serialize_executable import deserialize_and_load, serialize

import crisptree
from crisptree.base.files import write_atomically
from crisptree.base.processes import cores

KNOWN = ("crisptree", "jax", "equinox", "optax", "builtins")
"""Packages whose sources or versions are in a program's name. What other classes do when they are
arguments may change without it, so that is not kept on disk."""


class Kept:
    """A pure function, compiled with `options`; `described` is what it is made of. Where that does
    not tell everything, it is not kept `on_disk`."""

    def __init__(
        self, function: Callable, options: dict[str, Any], described: Any, *, on_disk: bool = True
    ) -> None:
        self._function, self._options, self._described = function, options, repr(described)
        self._on_disk = on_disk
        self._programs: dict[tuple, Traced | Read] = {}

    def shapes(self, *arguments: Any) -> Any:
        """What comes out of arguments, or of their shapes, as shapes."""
        return self._program(arguments)[0].shapes

    def lower(self, *arguments: Any) -> None:
        """All that is Python's work before the first call with such arguments, or their shapes."""
        self._program(arguments)[0].lower()

    def compiled(self, *arguments: Any) -> jax.stages.Compiled:
        """The program for such arguments, or their shapes, on its bare leaves."""
        return self._program(arguments)[0].compiled

    def __call__(self, *arguments: Any) -> Any:
        program, leaves = self._program(arguments)
        return program(leaves)

    def _program(self, arguments: tuple) -> tuple["Traced | Read", list]:
        """The program for such arguments, and their leaves that it takes."""
        every, tree = jax.tree.flatten(arguments)
        every = [np.asarray(leaf) if np.isscalar(leaf) else leaf for leaf in every]
        kinds = tuple((leaf.shape, leaf.dtype) if _has_shape(leaf) else leaf for leaf in every)
        if (tree, kinds) not in self._programs:
            self._programs[tree, kinds] = self._found(every, tree)
        return self._programs[tree, kinds], [leaf for leaf in every if _has_shape(leaf)]

    def _found(self, every: list, tree: Any) -> "Traced | Read":
        """Read, or else traced."""
        shapes = [jax.ShapeDtypeStruct(x.shape, x.dtype) if _has_shape(x) else x for x in every]

        def bare(*leaves):
            given = iter(leaves)
            return self._function(
                *jax.tree.unflatten(tree, [next(given) if _has_shape(x) else x for x in shapes])
            )

        # Functions are told by their names; where they lie in memory changes from run to run.
        about = re.sub(r" at 0x[0-9a-f]+", "", f"{self._described} {tree} {shapes}")
        known = all(kind.__module__.split(".")[0] in KNOWN for kind in _kinds_in(tree))
        path = _path_for(f"{self._options} {about}") if self._on_disk and known else None
        leaves = [x for x in shapes if _has_shape(x)]
        traced, found = partial(Traced, bare, leaves, self._options, path), _content(path)
        return Read(*found, len(leaves), traced) if found else traced()


class Program(ABC):
    """One program; `shapes` are those of what it gives."""

    def __init__(self, shapes: Any) -> None:
        self.shapes = shapes
        self._static = eqx.filter(shapes, _has_shape, inverse=True)
        self._ready: jax.stages.Compiled | None = None

    @property
    def compiled(self) -> jax.stages.Compiled:
        # No `cached_property`: up to Python 3.11 one program would wait for all others.
        if self._ready is None:
            self._ready = self._made_ready()
        return self._ready

    @abstractmethod
    def lower(self) -> None:
        """All that is left to do in Python."""

    @abstractmethod
    def _made_ready(self) -> jax.stages.Compiled: ...

    def __call__(self, leaves: list) -> Any:
        return eqx.combine(self.compiled(*leaves), self._static)


class Traced(Program):
    """Compiled, and written to `path`, when it is first asked for."""

    def __init__(
        self, bare: Callable, leaves: list, options: dict[str, Any], path: Path | None
    ) -> None:
        static: list[Any] = []

        def of_leaves(*leaves):
            results = bare(*leaves)
            static[:] = [eqx.filter(results, eqx.is_array, inverse=True)]
            return eqx.filter(results, eqx.is_array)

        self._traced = jax.jit(of_leaves).trace(*leaves)
        self._options, self._path = options, path
        self._lowered: jax.stages.Lowered | None = None
        arrays = jax.tree.map(
            lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), self._traced.out_info
        )
        super().__init__(eqx.combine(arrays, *static))

    def lower(self) -> None:
        self._lowered = self._lowered or self._traced.lower()

    def _made_ready(self) -> jax.stages.Compiled:
        if self._path is None:
            return self._compile()
        with JAX_CACHE.left_out():
            compiled = self._compile()
        # A full or read-only disk keeps nothing, nor can all that users make be kept.
        with contextlib.suppress(OSError, pickle.PicklingError, TypeError, AttributeError):
            content = pickle.dumps((self.shapes, serialize(compiled)[0]))
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self._path, content)
        return compiled

    def _compile(self) -> jax.stages.Compiled:
        lowered = self._lowered or self._traced.lower()
        try:
            return lowered.compile(self._options)
        except jax.errors.JaxRuntimeError:  # other versions know other options
            return lowered.compile()


class JaxCache:
    """JAX's own, which programs that are kept here pass by: what it has loaded can be written
    again, but parts of it are missing then."""

    def __init__(self) -> None:
        self._lock, self._inside, self._was_used = Lock(), 0, True

    @contextlib.contextmanager
    def left_out(self) -> Iterator[None]:
        """Unused from now on, by all threads, until the last that asked for it is done."""
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._was_used = jax.config.values["jax_enable_compilation_cache"]
                self._use(False)
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if self._inside == 0:
                    self._use(self._was_used)

    def _use(self, use: bool) -> None:
        jax.config.update("jax_enable_compilation_cache", use)
        reset_cache()  # it asks only once whether it is used


JAX_CACHE = JaxCache()


class Read(Program):
    """Loaded when it is first asked for; what cannot be run here is `traced` after all."""

    def __init__(
        self, shapes: Any, executable: bytes, n_leaves: int, traced: Callable[[], Traced]
    ) -> None:
        super().__init__(shapes)
        self._executable, self._n_leaves, self._traced = executable, n_leaves, traced

    def lower(self) -> None:
        """Nothing."""

    def _made_ready(self) -> jax.stages.Compiled:
        arguments = jax.tree.structure((tuple(range(self._n_leaves)), {}))
        results = jax.tree.structure(eqx.filter(self.shapes, _has_shape))
        devices = jax.devices()[:1]
        try:
            return deserialize_and_load(
                self._executable, arguments, results, execution_devices=devices
            )
        except Exception:  # whatever another machine's program makes of the loader
            return self._traced().compiled


def _content(path: Path | None) -> tuple[Any, bytes] | None:
    """What was kept there, by this user, if it can be read: to read it is to trust it."""
    if path is None or not path.exists():
        return None
    if hasattr(os, "getuid") and path.stat().st_uid != os.getuid():
        return None
    try:
        shapes, executable = pickle.loads(path.read_bytes())
    except Exception:  # whatever half a file or another version's makes of the reader
        return None
    return shapes, executable


def _kinds_in(tree: Any) -> Iterator[type]:
    """The classes that a tree of arguments is built of."""
    data = tree.node_data()
    if data is not None:
        yield data[0]
    for child in tree.children():
        yield from _kinds_in(child)


def _has_shape(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array | np.ndarray | jax.ShapeDtypeStruct)


def _path_for(about: str) -> Path | None:
    folder = jax.config.values["jax_compilation_cache_dir"]
    if folder is None:
        return None
    wide = jax.config.values["jax_enable_x64"]
    key = f"{_sources()} {_machine()} {wide} {about}"
    return Path(folder) / "programs" / hashlib.sha256(key.encode()).hexdigest()


@lru_cache(maxsize=1)
def _sources() -> str:
    """A hash of this package's sources and of the versions of what compiles them."""
    found = hashlib.sha256()
    for name in ("jax", "jaxlib", "equinox", "optax"):
        found.update(f"{name} {version(name)}".encode())
    for path in sorted(Path(crisptree.__file__).parent.rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()


@lru_cache(maxsize=1)
def _machine() -> str:
    """What programs are compiled for: a home folder may be shared by different machines."""
    described = f"{jax.devices()[0].device_kind} {jax.devices()[0].client.platform_version}"
    features = ""
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as lines:
        features = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    flags = os.environ.get("XLA_FLAGS", "")
    return f"{platform.system()} {platform.machine()} {described} {cores()} {flags} {features}"
