"""Agents on disk: arrays only, never pickle, written whole or not at all."""

import io
import zipfile
from os import PathLike
from pathlib import Path
from typing import TypeVar

import equinox as eqx
import jax
import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.base.files import write_atomically

Tree = TypeVar("Tree")


def save(path: str | PathLike[str], tree: object) -> None:
    """The arrays of `tree`, in order, as one NumPy archive."""
    leaves = jax.tree.leaves(eqx.filter(tree, eqx.is_array))
    buffer = io.BytesIO()
    np.savez(
        buffer,
        allow_pickle=False,
        **{f"leaf{i:04d}": _plain(leaf) for i, leaf in enumerate(leaves)},
    )
    write_atomically(path, buffer.getvalue())


def load(path: str | PathLike[str], like: Tree) -> Tree:
    """`like` with its arrays replaced by those at `path`."""
    arrays, static = eqx.partition(like, eqx.is_array)
    leaves, structure = jax.tree.flatten(arrays)
    try:
        content = io.BytesIO(Path(path).read_bytes())
        with np.load(content, allow_pickle=False) as archive:
            stored = [archive[name] for name in sorted(archive.files)]
    except (OSError, ValueError, TypeError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise CrisptreeError(f"cannot read the checkpoint {path}: {error}") from error
    if len(stored) != len(leaves):
        raise CrisptreeError(
            f"the checkpoint {path} has {len(stored)} arrays where {len(leaves)} are needed: "
            "it is of another configuration"
        )
    for i, (leaf, found) in enumerate(zip(leaves, stored, strict=True)):
        needed = _plain(leaf)
        if needed.shape != found.shape or needed.dtype != found.dtype:
            raise CrisptreeError(
                f"the checkpoint {path} has {found.dtype}{found.shape} as array {i} where "
                f"{needed.dtype}{needed.shape} is needed: it is of another configuration"
            )
    restored = [_like(leaf, found) for leaf, found in zip(leaves, stored, strict=True)]
    return eqx.combine(jax.tree.unflatten(structure, restored), static)


def _is_key(leaf) -> bool:
    return jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _plain(leaf) -> np.ndarray:
    return np.asarray(jax.random.key_data(leaf) if _is_key(leaf) else leaf)


def _like(leaf, found: np.ndarray):
    array = jax.device_put(found)
    return jax.random.wrap_key_data(array) if _is_key(leaf) else array
