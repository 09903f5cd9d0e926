"""Learners on disk: a line of JSON that says what follows, then the arrays by Equinox. Never
pickle; written whole or not at all."""

import hashlib
import io
import json
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import equinox as eqx
import jax

from crisptree.base.errors import CrisptreeError
from crisptree.base.files import write_atomically

Tree = TypeVar("Tree")
FORMAT = "crisptree.checkpoint"


def save(path: str | PathLike[str], tree: object) -> None:
    """Write the arrays of `tree`, in order."""
    arrays = jax.tree.map(_as_numbers, eqx.filter(tree, eqx.is_array))
    body = io.BytesIO()
    eqx.tree_serialise_leaves(body, arrays)
    header = {
        "format": FORMAT,
        "version": 1,
        "arrays": _described(arrays),
        "sha256": hashlib.sha256(body.getvalue()).hexdigest(),
    }
    write_atomically(path, json.dumps(header).encode() + b"\n" + body.getvalue())


def load(path: str | PathLike[str], like: Tree) -> Tree:
    """`like` with its arrays replaced by those at `path`, which must have the same shapes."""
    arrays, others = eqx.partition(like, eqx.is_array)
    needed = jax.tree.map(_as_numbers, arrays)
    try:
        first, _, body = Path(path).read_bytes().partition(b"\n")
        header = json.loads(first)
        if header["format"] != FORMAT:
            raise ValueError("it is another kind of file")
        if header["sha256"] != hashlib.sha256(body).hexdigest():
            raise ValueError("it is damaged")
        stored = list(header["arrays"])
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise CrisptreeError(f"cannot read the checkpoint {path}: {error}") from error
    _check_same(path, stored, _described(needed))
    try:
        found = eqx.tree_deserialise_leaves(io.BytesIO(body), needed)
    except (RuntimeError, ValueError, EOFError) as error:
        raise CrisptreeError(f"cannot read the checkpoint {path}: {error}") from error
    return eqx.combine(jax.tree.map(_as_before, found, arrays), others)


def _check_same(path: Any, stored: list[str], needed: list[str]) -> None:
    """Refuse a checkpoint of another configuration."""
    if len(stored) != len(needed):
        raise CrisptreeError(
            f"the checkpoint {path} has {len(stored)} arrays where {len(needed)} are needed: "
            "it is of another configuration"
        )
    for i, (found, wanted) in enumerate(zip(stored, needed, strict=True)):
        if found != wanted:
            raise CrisptreeError(
                f"the checkpoint {path} has {found} as array {i} where {wanted} is needed: "
                "it is of another configuration"
            )


def _described(arrays: Any) -> list[str]:
    """Type and shape of each array."""
    return [f"{leaf.dtype}{leaf.shape}" for leaf in jax.tree.leaves(arrays)]


def _is_key(leaf: Any) -> bool:
    return jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _as_numbers(leaf: Any) -> Any:
    """Keys of randomness as the numbers they are made of."""
    return jax.random.key_data(leaf) if _is_key(leaf) else leaf


def _as_before(found: Any, like: Any) -> Any:
    """Numbers as the keys they were."""
    if not _is_key(like):
        return found
    return jax.random.wrap_key_data(found, impl=jax.random.key_impl(like))
