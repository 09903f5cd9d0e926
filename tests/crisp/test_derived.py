import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.crisp.derived import derived_feature, in_common, readable, with_columns, with_sums
from crisptree.crisp.signature import Actions, Feature

OBSERVED = (Feature("height"), Feature("speed"), Feature("leg", "flag", 0.0, 1.0))
FALL = derived_feature(((1, 1.0), (0, 0.5)), OBSERVED)
DRIFT = derived_feature(((0, -1.0), (1, -0.28), (2, 3.0)), OBSERVED)
TREE = CrispTree.from_nested(
    (FALL.name, -0.2, (2, 0.5, 0, 1), (DRIFT.name, 0.1, 2, 0)),
    features=(*OBSERVED, FALL, DRIFT),
    action_names=("nothing", "left", "main"),
)
NUMBERS = st.floats(width=32, allow_infinity=True, allow_nan=True)


def by_hand(x) -> int:
    height, speed, leg = (float(each) for each in x)
    if 1.0 * speed + 0.5 * height > -0.2:
        return 0 if leg > 0.5 else 1
    return 2 if -1.0 * height + -0.28 * speed + 3.0 * leg > 0.1 else 0


def test_names_are_read_as_sums():
    assert FALL.name == "speed + 0.5·height"
    assert DRIFT.name == "−height − 0.28·speed + 3·leg"
    assert readable(((0, -0.5), (1, 1.0)), ["a", "b"]) == "−0.5·a + b"


@given(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=100))
def test_a_tree_decides_by_the_sums_alone_and_in_a_batch(rows):
    expected = [by_hand(row) for row in rows]
    batch = np.array(rows, np.float32)
    assert TREE.predict(batch)[0].tolist() == expected
    assert [int(TREE.predict(row)[0]) for row in batch] == expected
    assert [int(TREE.predict(list(map(float, row)))[0]) for row in rows] == expected
    assert TREE.act(TREE.columns(batch)).tolist() == expected


@given(st.tuples(NUMBERS, NUMBERS, NUMBERS))
def test_one_observation_has_the_sums_of_a_row(row):
    derived = (FALL.terms, DRIFT.terms)
    alone = with_sums([float(each) for each in row], derived)
    together = with_columns(np.array([row], np.float64), derived)[0]
    np.testing.assert_array_equal(alone, together)


def test_observations_have_no_derived_numbers():
    assert TREE.n_features == 3
    assert TREE.columns([1.0, 2.0, 0.0]).tolist() == pytest.approx([1, 2, 0, 2.5, -1.56])
    assert TREE.decision_path([1.0, 2.0, 0.0]) == TREE.decision_path(
        np.array([1, 2, 0, 2.5, -1.56])
    )
    with pytest.raises(CrisptreeError, match=r"an observation has shape \(3,\)"):
        TREE.predict([1.0, 2.0])


def test_a_file_says_how_derived_features_follow(tmp_path):
    TREE.save(tmp_path / "policy.json")
    assert CrispTree.load(tmp_path / "policy.json") == TREE
    assert TREE.to_dict()["features"][3]["terms"] == [[1, 1.0], [0, 0.5]]
    assert "terms" not in TREE.to_dict()["features"][0]


def test_a_linear_leaf_reads_what_is_observed():
    torque = Actions.box(("torque",), (-9.0,), (9.0,))
    tree = CrispTree.from_nested(
        (FALL.name, 0.0, {"torque": (0.5, {"height": 2.0})}, [1.0]),
        features=(*OBSERVED, FALL),
        actions=torque,
    )
    assert tree.act([[1.0, 0.0, 0.0], [1.0, -1.0, 0.0]]).tolist() == [[2.5], [1.0]]
    with pytest.raises(CrisptreeError, match="the features are"):
        CrispTree.from_nested(
            {"torque": (0.5, {FALL.name: 2.0})}, features=(*OBSERVED, FALL), actions=torque
        )


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ([FALL, *OBSERVED], r"features\[0\] is derived; it must stand behind all"),
        ([FALL], "features holds derived ones only"),
        ([*OBSERVED, Feature("a", terms=((3, 1.0),))], r"terms\[0\]\[0\] is 3"),
        ([*OBSERVED, Feature("a", terms=((0, 0.0),))], "is 0; such a term adds nothing"),
        ([*OBSERVED, Feature("a", terms=((0, math.nan),))], r"terms\[0\]\[1\]"),
        ([*OBSERVED, Feature("a", terms=((0, 1.0), (0, 2.0)))], "sums a feature twice"),
        ([*OBSERVED, Feature("a", "flag", terms=((0, 1.0),))], "a derived feature is a number"),
    ],
)
def test_terms_that_make_no_sense(features, message):
    with pytest.raises(CrisptreeError, match=message):
        CrispTree.leaf(0, features=tuple(features), action_names=("a",))


@pytest.mark.parametrize("terms", [[[0]], [[0, 1, 2]], [["a", 1.0]], [[0.5, 1.0]], "0", [1]])
def test_files_whose_terms_make_no_sense(terms):
    policy = TREE.to_dict()
    policy["features"][3]["terms"] = terms
    with pytest.raises(CrisptreeError, match=r"features\[3\]\.terms"):
        CrispTree.from_dict(policy)


def test_trees_with_different_sums_find_theirs():
    every, columns = in_common([(*OBSERVED, FALL), OBSERVED, (*OBSERVED, DRIFT, FALL)])
    assert every == (FALL.terms, DRIFT.terms)
    assert [each.tolist() for each in columns] == [[0, 1, 2, 3], [0, 1, 2], [0, 1, 2, 4, 3]]
