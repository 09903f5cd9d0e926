import shutil
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from export_trees import BOX, EVERY, EXTREME, HOSTILE, KINDS, LEAF, grown
from hypothesis import given
from hypothesis import strategies as st
from tree_strategies import EVERY_KIND, tree_with

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree, Feature
from crisptree.export.check import ExportError
from crisptree.export.expected import expected
from crisptree.export.fixed_c import as_fixed_c
from crisptree.export.fixed_check import check_fixed
from crisptree.export.fixed_point import decide, fixed_point, values_of
from crisptree.export.fixed_vectors import as_csv, grid_vectors, random_points
from crisptree.export.programs import compiled_for

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")


@given(EVERY_KIND, st.sampled_from([16, 32]), st.integers(0, 2**32 - 1))
def test_on_the_grid_decisions_are_the_policy_s(written, bits, seed):
    tree = tree_with(*written)
    gains = [gain for gains in tree.gains for gain in gains]
    if any(gain.weight > 1e299 for gain in gains):  # what no whole number of so many bits holds
        tree = replace(tree, gains=())
        tree = replace(tree, action=np.clip(tree.action, BOX.low, BOX.high))
    fixed = fixed_point(tree, bits)
    points = np.concatenate([random_points(fixed, 50, seed), np.array(grid_vectors(fixed))])
    assert points.min() >= fixed.lowest and points.max() <= fixed.highest
    found, policy = decide(fixed, points), expected(tree, values_of(fixed, points))
    if tree.actions.kind == "box":
        off = np.abs(np.ldexp(found.astype(float), -np.array(fixed.action_shifts)) - policy)
        assert (off <= fixed.tolerances).all()
    else:
        assert np.array_equal(found, policy)


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**31), 2**31 - 1))
def test_a_comparison_is_exact(threshold, q):
    fixed = fixed_point(CrispTree.from_nested((0, threshold, 1, 0), ("a",), ("l", "r")))
    is_true = Fraction(q) / Fraction(2) ** fixed.shifts[0] > Fraction(threshold)
    assert decide(fixed, np.array([[q]]))[0] == is_true


def test_thresholds_between_two_points_of_the_grid_are_one():
    near = float(np.nextafter(0.1, 1))
    tree = CrispTree.from_nested(("a", near, 0, ("a", 0.1, 1, 2)), ("a",), ("x", "y", "z"))
    assert fixed_point(tree, 16).tree.n_leaves == 2


def test_the_scale_follows_the_bounds():
    features = (Feature("a", low=-8.0, high=8.0), Feature("b"), Feature("c", low=-3e38, high=3e38))
    nested = (0, 1.0, 0, (1, 1.0, 1, (2, 1.0, 1, 0)))
    tree = CrispTree.from_nested(nested, (), ("x", "y"), features=features)
    for bits in (16, 32):
        fixed = fixed_point(tree, bits)
        reaches = [np.ldexp(float(fixed.highest), -shift) for shift in fixed.shifts]
        assert 8 <= reaches[0] < 16.01 and 4 <= reaches[1] < 8.01 and 4 <= reaches[2] < 8.01


def test_saturated_observations_are_decided_alike():
    tree = grown(32, 5)
    fixed = fixed_point(tree)
    states = np.random.default_rng(0).normal(size=(1000, 8)) * 10.0 ** np.arange(8)
    grid = np.clip(np.floor(np.ldexp(states, np.array(fixed.shifts))), fixed.lowest, fixed.highest)
    same = decide(fixed, grid.astype(np.int64)) == tree.act(states)
    assert same.mean() == 1.0


def test_formulas_are_near():
    fixed = fixed_point(KINDS["formulas"])
    assert max(fixed.tolerances) < 1e-6
    assert max(fixed_point(KINDS["formulas"], 16).tolerances) < 0.05


def checked(tree, made, count):
    run = compiled_for(made.code, f"int{made.fixed.bits}_t")
    return check_fixed(tree, made.fixed, run, count)


@needs_gcc
@pytest.mark.parametrize("bits", [16, 32])
@pytest.mark.parametrize("tree", [*EVERY.values()], ids=[*EVERY])
def test_the_c_code(tree, bits):
    made = as_fixed_c(tree, "pump", bits)
    assert checked(tree, made, 2000) >= 2000
    code = made.code.source.split("#ifdef PUMP_SELF_TEST")[0] + made.code.header
    for word in ("double", "float", "malloc", "math.h"):
        assert word not in code.replace(str(HOSTILE.feature_names), "")


@needs_gcc
def test_other_numbers_are_noticed():
    tree = KINDS["formulas"]
    made = as_fixed_c(tree, "pump")
    fixed = made.fixed
    leaf = next(iter(fixed.sums))
    sums = {
        **fixed.sums,
        leaf: tuple(s._replace(constant=s.constant + 2**40) for s in fixed.sums[leaf]),
    }
    with pytest.raises(ExportError, match="decides differently"):
        checked(tree, made._replace(fixed=fixed._replace(sums=sums)), 500)
    with pytest.raises(ExportError, match="its header says at most"):
        checked(tree, made._replace(fixed=fixed._replace(tolerances=(0.0, 0.0))), 500)
    other = replace(tree, threshold=np.where(tree.feature < 0, 0.0, tree.threshold + 0.1))
    with pytest.raises(ExportError):
        checked(other, made, 500)


def test_the_header_says_what_the_numbers_mean():
    tree = CrispTree.from_nested(
        ("angle", 0.25, {"torque": (1.0, {"speed": 0.5}), "brake": 0.0}, [-1.0, 1.0]),
        features=(Feature("angle", low=-4.0, high=4.0), Feature("speed", low=-8.0, high=8.0)),
        actions=BOX,
    )
    code = as_fixed_c(tree, "pump", 16).code
    assert "angle: shift 12, steps of 0.000244141, up to 7.99976" in code.header
    assert (
        "void pump_action(const int16_t x[PUMP_FEATURES], int16_t action[PUMP_VALUES]);"
        in code.header
    )
    assert "const int pump_feature_shift[PUMP_FEATURES] = {12, 11};" in code.source
    assert "x[0] > 1024) { /* angle > 0.25 */" in code.source


def test_the_vectors():
    rows = as_csv(fixed_point(grown(8, 1))).splitlines()
    assert rows[0] == "x0,x1,x2,x3,x4,x5,x6,x7,action"
    assert all(part.lstrip("-").isdigit() for row in rows[1:] for part in row.split(","))
    assert as_csv(fixed_point(LEAF)).splitlines() == ["a,b,action", "0,0,1"]


def test_a_formula_that_needs_more_bits():
    tree = CrispTree.from_nested([(0.0, {"a": 1e300}), 0.0], ("a",), actions=BOX)
    with pytest.raises(CrisptreeError, match=r"a formula for torque reaches .*; --to c and other"):
        fixed_point(replace(tree, features=(Feature("a", low=-1.0, high=1.0),)))


def test_a_formula_beyond_all_floats():
    tree = CrispTree.from_nested([(0.0, {"a": 1e308}), 0.0], ("a",), actions=BOX)
    with pytest.raises(CrisptreeError, match="a formula for torque reaches too much"):
        fixed_point(replace(tree, features=(Feature("a", low=-1e30, high=1e30),)))


SIZES = [(bits, weight) for bits in (16, 32) for weight in (5e-324, 1e-9, 0.5, 2.0 ** (bits - 1))]


@needs_gcc
@pytest.mark.parametrize(("bits", "weight"), SIZES)
def test_formulas_of_all_sizes_compile_and_decide_alike(bits, weight):
    """Small weights leave room for many bits below the point, the largest ones for none."""
    tree = CrispTree.from_nested([(0.0, {"a": weight}), 0.0], ("a",), actions=BOX)
    tree = replace(tree, features=(Feature("a", low=-1.0, high=1.0),))
    assert checked(tree, as_fixed_c(tree, "pump", bits), 200) >= 200


def test_other_bits():
    with pytest.raises(CrisptreeError, match="fixed point has 16 or 32 bits, not 8"):
        as_fixed_c(EXTREME, bits=8)
