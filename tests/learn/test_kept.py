import os
import pickle

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.learn import kept
from crisptree.learn.kept import Kept


class Counter(eqx.Module):
    """An agent with something that is no number in it."""

    sum: jax.Array
    key: jax.Array
    name: str = eqx.field(static=True)


@pytest.fixture(autouse=True)
def cache(tmp_path):
    before = jax.config.values["jax_compilation_cache_dir"]
    jax.config.update("jax_compilation_cache_dir", str(tmp_path))
    yield tmp_path / "programs"
    jax.config.update("jax_compilation_cache_dir", before)


@pytest.fixture(autouse=True)
def known(monkeypatch):
    ours, *_ = Counter.__module__.split(".")
    monkeypatch.setattr(kept, "KNOWN", (*kept.KNOWN, ours))


@pytest.fixture
def traced():
    """Called whenever `advance` is traced."""
    return []


@pytest.fixture
def advance(traced):
    def advance(agents, scenes, n, rates):
        traced.append(agents.name)
        drawn = jax.random.uniform(agents.key)
        counted = Counter(agents.sum + n * rates["step"], agents.key, agents.name)
        return counted, scenes * 2, {"b": drawn, "a": counted.sum}

    return advance


def arguments(name: str = "one", size: int = 3):
    agents = Counter(jnp.zeros(size), jax.random.key(7), name)
    return agents, jnp.ones(2), jnp.asarray(4), {"step": np.float32(0.5)}


def program(advance, described="it"):
    return Kept(advance, {}, described)


def check(results, name: str = "one", size: int = 3):
    agents, scenes, log = results
    assert agents.name == name
    np.testing.assert_array_equal(agents.sum, np.full(size, 2.0))
    np.testing.assert_array_equal(scenes, [2.0, 2.0])
    np.testing.assert_array_equal(log["a"], agents.sum)
    assert float(log["b"]) == float(jax.random.uniform(jax.random.key(7)))


def test_it_gives_what_the_function_gives_and_goes_on_from_its_own_results(advance, traced):
    run = program(advance)
    check(run(*arguments()))
    agents, scenes, _ = run(*arguments())
    again, *_ = run(agents, scenes, jnp.asarray(4), {"step": np.float32(0.5)})
    np.testing.assert_array_equal(again.sum, np.full(3, 4.0))
    assert traced == ["one"]


def test_another_process_reads_what_was_compiled(advance, traced):
    program(advance).compiled(*arguments())
    check(program(advance)(*arguments()))
    assert traced == ["one"]


@pytest.mark.parametrize("of", [lambda x: x, lambda x: eqx.filter_eval_shape(lambda: x)])
def test_shapes_are_those_of_the_results(advance, of):
    """Traced and read, of arguments and of their shapes."""
    results = program(advance)(*arguments())
    for _ in range(2):
        shapes = program(advance).shapes(*of(arguments()))
        assert jax.tree.structure(shapes) == jax.tree.structure(results)
        for shape, leaf in zip(jax.tree.leaves(shapes), jax.tree.leaves(results), strict=True):
            assert (shape.shape, shape.dtype) == (leaf.shape, leaf.dtype)


@pytest.mark.parametrize(
    "other", [{"size": 5}, {"name": "two"}], ids=["other shapes", "other names"]
)
def test_other_arguments_are_another_program(advance, traced, other):
    program(advance)(*arguments())
    check(program(advance)(*arguments(**other)), **other)
    assert len(traced) == 2


def test_other_settings_are_another_program(advance, traced):
    program(advance)(*arguments())
    program(advance, "something else")(*arguments())
    assert len(traced) == 2


def test_other_sources_are_another_program(advance, traced, monkeypatch):
    program(advance)(*arguments())
    monkeypatch.setattr(kept, "_sources", lambda: "edited")
    program(advance)(*arguments())
    assert len(traced) == 2


@pytest.mark.parametrize(
    "content", [b"", b"\xff\n\x00", pickle.dumps("another"), "not for this machine"]
)
def test_what_cannot_be_read_or_run_is_traced_again(advance, traced, cache, content):
    program(advance)(*arguments())
    (file,) = cache.iterdir()
    if isinstance(content, str):
        shapes, _ = pickle.loads(file.read_bytes())
        content = pickle.dumps((shapes, b"nonsense"))
    file.write_bytes(content)
    check(program(advance)(*arguments()))
    check(program(advance)(*arguments()))
    assert len(traced) == 2


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no owners of files here")
def test_what_another_user_has_kept_is_not_trusted(advance, traced, monkeypatch):
    program(advance)(*arguments())
    monkeypatch.setattr(kept.os, "getuid", lambda: 123_456_789)
    check(program(advance)(*arguments()))
    assert len(traced) == 2


def test_other_machines_have_programs_of_their_own(advance, traced, monkeypatch):
    program(advance)(*arguments())
    monkeypatch.setattr(kept, "_machine", lambda: "another")
    program(advance)(*arguments())
    assert len(traced) == 2


def test_what_is_not_described_in_full_stays_in_memory(advance, traced, cache):
    for _ in range(2):
        run = Kept(advance, {}, "it", on_disk=False)
        check(run(*arguments()))
        check(run(*arguments()))
    assert len(traced) == 2
    assert not cache.exists()


def test_what_somebody_else_s_classes_do_is_not_kept(advance, traced, cache, monkeypatch):
    """Their sources may change, and nothing here would know."""
    monkeypatch.setattr(kept, "KNOWN", ("crisptree", "jax", "equinox", "optax", "builtins"))
    for _ in range(2):
        check(program(advance)(*arguments()))
    assert len(traced) == 2
    assert not cache.exists()


def test_what_cannot_be_pickled_is_not_kept(cache):
    nameless = Kept(lambda x: (x + 1, lambda: 3), {}, "it")
    number, function = nameless(np.ones(2, np.float32))
    np.testing.assert_array_equal(number, [2.0, 2.0])
    assert function() == 3
    assert not cache.exists()


def test_without_a_cache_nothing_is_kept(advance, traced, cache):
    jax.config.update("jax_compilation_cache_dir", None)
    check(program(advance)(*arguments()))
    check(program(advance)(*arguments()))
    assert len(traced) == 2
    assert not cache.exists()


def test_a_folder_that_cannot_be_written_does_not_matter(advance, cache):
    cache.write_text("a file where the folder should be")
    check(program(advance)(*arguments()))


def test_functions_are_told_by_their_names(advance, traced):
    """Two functions of one name, as in two runs: only their addresses differ."""

    def described():
        def activation():
            pass

        return activation

    one, other = described(), described()
    assert repr(one) != repr(other)
    program(advance, one)(*arguments())
    program(advance, other)(*arguments())
    assert len(traced) == 1


def test_options_that_this_version_does_not_know_are_left_out(advance):
    check(Kept(advance, {"xla_cpu_of_another_year": 1}, "it")(*arguments()))


def test_what_jax_has_kept_as_well_is_not_written_from_there(advance, cache):
    """Else functions are missing in what is read the next time."""
    for described in ("it", "another", "another"):
        check(program(advance, described)(*arguments()))
    assert not [path for path in cache.parent.iterdir() if path.name.startswith("jit_of_leaves")]
    assert jax.config.values["jax_enable_compilation_cache"]
