import hashlib
import io
import json
import os
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.learn import checkpoint, ppo
from crisptree.learn.config import PPOConfig
from crisptree.learn.stacks import pick, stack
from crisptree.soft import MLP, AxisTree, SoftTree, balanced

CONFIG = PPOConfig(n_envs=2, n_steps=8, n_minibatches=2)


def states(seed: int, n_leaves: int = 4):
    """Two seeds of a state whose every number depends on `seed`."""

    def one(key):
        tree = AxisTree.random(balanced(n_leaves), 4, 2, key=key)
        return ppo.init(tree, 4, CONFIG, 10, key=key)

    both = stack([one(key) for key in jax.random.split(jax.random.key(seed), 2)])
    return jax.tree.map(lambda leaf: leaf + seed if eqx.is_inexact_array(leaf) else leaf, both)


def numbers(tree) -> list[tuple[str, bytes]]:
    def plain(leaf) -> np.ndarray:
        is_key = jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
        return np.asarray(jax.random.key_data(leaf) if is_key else leaf)

    leaves = [plain(leaf) for leaf in jax.tree.leaves(eqx.filter(tree, eqx.is_array))]
    return [(f"{leaf.dtype}{leaf.shape}", leaf.tobytes()) for leaf in leaves]


def test_there_and_back_bit_for_bit(tmp_path):
    """Keys of randomness, counts and moments as well; what is not an array comes from `like`."""
    saved, like = states(1), states(2)
    checkpoint.save(tmp_path / "a.eqx", saved)
    loaded = checkpoint.load(tmp_path / "a.eqx", like)
    assert numbers(loaded) == numbers(saved) != numbers(like)
    assert jax.tree.structure(loaded) == jax.tree.structure(saved)
    assert (jax.random.bits(loaded.key[1]) == jax.random.bits(saved.key[1])).all()
    assert pick(loaded.actor, 0).topology == balanced(4)


def test_other_kinds_of_trees(tmp_path):
    pairs: list[Any] = [
        (SoftTree.random(balanced(3), 4, 2, key=jax.random.key(i)) for i in (0, 1)),
        (MLP.random((4, 3, 2), key=jax.random.key(i)) for i in (0, 1)),
        ((jax.random.key(i), jnp.arange(3) + i, "text", None) for i in (0, 1)),
    ]
    for number, (saved, like) in enumerate(pairs):
        path = tmp_path / f"{number}.eqx"
        checkpoint.save(path, saved)
        assert numbers(checkpoint.load(path, like)) == numbers(saved) != numbers(like)


def test_special_numbers(tmp_path):
    odd = jnp.array([jnp.nan, jnp.inf, -jnp.inf, -0.0, 1e-45])
    checkpoint.save(tmp_path / "a.eqx", odd)
    assert numbers(checkpoint.load(tmp_path / "a.eqx", jnp.zeros(5))) == numbers(odd)


def test_same_states_same_bytes(tmp_path):
    for name in ("a", "b"):
        checkpoint.save(tmp_path / name, states(3))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_another_configuration_is_refused(tmp_path):
    path = tmp_path / "a.eqx"
    checkpoint.save(path, states(0))
    with pytest.raises(CrisptreeError, match=r"where int32\(2, 7\) is needed: it is of another"):
        checkpoint.load(path, states(0, n_leaves=8))
    with pytest.raises(CrisptreeError, match="arrays where 2 are needed: it is of another config"):
        checkpoint.load(path, (jnp.zeros(3), jnp.zeros(3)))
    checkpoint.save(path, jnp.zeros(3))
    with pytest.raises(CrisptreeError, match=r"has float32\(3,\) as array 0 where int32\(3,\) is"):
        checkpoint.load(path, jnp.zeros(3, jnp.int32))


def test_a_file_cut_short_anywhere_is_refused(tmp_path):
    whole, path = tmp_path / "whole", tmp_path / "cut"
    checkpoint.save(whole, states(0))
    content = whole.read_bytes()
    for length in (0, 1, 10, 100, len(content) // 2, len(content) - 100, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(CrisptreeError, match=f"cannot read the checkpoint {path}: "):
            checkpoint.load(path, states(0))


def test_a_flipped_bit_is_noticed(tmp_path):
    path = tmp_path / "a"
    checkpoint.save(path, jnp.arange(1000.0))
    content = bytearray(path.read_bytes())
    content[2000] ^= 1
    path.write_bytes(content)
    with pytest.raises(CrisptreeError, match="cannot read the checkpoint"):
        checkpoint.load(path, jnp.zeros(1000))


@pytest.mark.parametrize(
    "content", [b"{}", b"[1]\n", b'{"format": "other"}\n', b"\x93NUMPY nonsense"]
)
def test_other_files_are_refused(tmp_path, content):
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(CrisptreeError, match="cannot read the checkpoint"):
        checkpoint.load(tmp_path / "a", jnp.zeros(3))


def test_arrays_without_a_header_are_refused(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(3))
    with pytest.raises(CrisptreeError, match="cannot read the checkpoint"):
        checkpoint.load(tmp_path / "a.npy", jnp.zeros(3))


def test_pickles_are_refused(tmp_path):
    """Nothing in a checkpoint is ever executed."""
    body = io.BytesIO()
    np.save(body, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    header = {"format": checkpoint.FORMAT, "arrays": ["float32(1,)"]}
    header["sha256"] = hashlib.sha256(body.getvalue()).hexdigest()
    (tmp_path / "a.eqx").write_bytes(json.dumps(header).encode() + b"\n" + body.getvalue())
    with pytest.raises(CrisptreeError, match="cannot read the checkpoint"):
        checkpoint.load(tmp_path / "a.eqx", jnp.zeros(1))


def test_no_file(tmp_path):
    with pytest.raises(CrisptreeError, match=r"cannot read the checkpoint .*none"):
        checkpoint.load(tmp_path / "none", jnp.zeros(3))


def test_a_crash_while_writing_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "a.eqx"
    checkpoint.save(path, jnp.zeros(3))
    before = path.read_bytes()

    def fails(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(CrisptreeError, match=r"cannot write .*a\.eqx: No space left on device"):
        checkpoint.save(path, jnp.ones(3))
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.eqx"]
