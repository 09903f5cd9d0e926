import shutil
from dataclasses import replace

import numpy as np
import pytest
from export_trees import KINDS, SUMS, grown

from crisptree.base.errors import CrisptreeError
from crisptree.export import TARGETS, ExportError, export
from crisptree.export import targets as module

TREE = grown(32, 11)
NEEDS = {"c": "gcc", "c-fixed": "gcc", "c-fixed16": "gcc", "javascript": "node", "rust": "rustc"}
MILLION = ("python", "c", "javascript", "onnx", "sklearn")


def skip_without(target):
    if target in NEEDS and shutil.which(NEEDS[target]) is None:
        pytest.skip(f"no {NEEDS[target]}")


@pytest.mark.parametrize("target", TARGETS)
def test_a_million_states(target):
    skip_without(target)
    made = TARGETS[target].make(TREE, "policy")
    count = 500_000 if target in MILLION else 50_000
    assert TARGETS[target].check(TREE, made, count) >= count


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_leaf(target, kind):
    skip_without(target)
    tree = KINDS[kind]
    if target == "sklearn" and tree.is_linear:
        with pytest.raises(CrisptreeError, match=r"constant leaves .*; python, c, .*st .* can"):
            TARGETS[target].make(tree, "policy")
    else:
        assert TARGETS[target].check(tree, TARGETS[target].make(tree, "policy"), 1000) >= 1000


NO_SUMS = {
    "sklearn": r"trees ask for single features .*|constant leaves",
    "c-fixed": "without derived features",
    "c-fixed16": "without derived features",
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", SUMS)
def test_derived_features(target, kind):
    skip_without(target)
    tree = SUMS[kind]
    if target in NO_SUMS:
        with pytest.raises(CrisptreeError, match=NO_SUMS[target]):
            TARGETS[target].make(tree, "policy")
    else:
        assert TARGETS[target].check(tree, TARGETS[target].make(tree, "policy"), 1000) >= 1000


@pytest.mark.parametrize(
    ("target", "off"),
    # Observations of an ONNX model are float32, which cannot come as near to a threshold.
    [*((name, 2**-40) for name in ("python", "st", "sql", "csv", "markdown")), ("onnx", 2**-16)],
)
def test_a_sum_that_is_a_little_off_does_not_pass(target, off):
    tree = SUMS["choices"]
    *others, last = tree.features
    (feature, weight), *rest = last.terms
    wrong = replace(last, terms=((feature, weight * (1 + off)), *rest))
    other = replace(tree, features=(*others, wrong), feature_names=())
    made = TARGETS[target].make(other, "policy")
    with pytest.raises(ExportError, match="decides differently"):
        TARGETS[target].check(tree, made, 5000)


@pytest.mark.parametrize("target", TARGETS)
def test_the_same_tree_gives_the_same_bytes(target, tmp_path):
    skip_without(target)
    out, vectors = tmp_path / f"a{TARGETS[target].suffixes[0]}", tmp_path / "vectors"
    first = export(TREE, target, out, count=10, vectors_to=vectors)
    before = [file.read_bytes() for file in first.files]
    second = export(TREE, target, out, count=10, vectors_to=vectors)
    assert [file.read_bytes() for file in second.files] == before
    assert first.states == second.states > 0
    assert sorted(tmp_path.iterdir()) == sorted(first.files)


@pytest.mark.parametrize("target", TARGETS)
def test_nothing_is_written_when_the_check_fails(target, tmp_path, monkeypatch):
    def wrong(made):
        raise ExportError("it decides differently")

    monkeypatch.setattr(module, "TARGETS", {target: replace(TARGETS[target], decider=wrong)})
    with pytest.raises(ExportError):
        export(TREE, target, tmp_path / "policy.c")
    assert list(tmp_path.iterdir()) == []


def test_another_policy_does_not_pass():
    """Each check notices a threshold that is one float off."""
    node = int(np.flatnonzero(TREE.feature >= 0)[0])
    threshold = TREE.threshold.copy()
    threshold[node] = np.nextafter(np.float32(threshold[node]), np.float32(np.inf))
    other = replace(TREE, threshold=threshold)
    for name in ("python", "st", "plcopen", "sql", "csv", "markdown", "onnx", "sklearn"):
        made = TARGETS[name].make(other, "policy")
        with pytest.raises(ExportError, match="decides differently"):
            TARGETS[name].check(TREE, made, 100)


def test_an_unknown_target(tmp_path):
    with pytest.raises(CrisptreeError, match="no export 'java'; there are python, c, c-fixed"):
        export(TREE, "java", tmp_path / "x")
