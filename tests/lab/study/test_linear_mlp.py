import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from crisptree.base.errors import CrisptreeError
from crisptree.lab.study import LinearMLP

FEATURES, ACTIONS = ("a", "b", "c"), ("left", "right")
WEIGHTS = np.array([[0.5, -2.0, 0.1], [-1.0, 0.0, 3.0]])
SMALL = LinearMLP(((WEIGHTS, np.array([0.25, 0.0])),), FEATURES, ACTIONS, "Some-v0")
NUMBERS = st.floats(-10, 10, width=32)


def test_it_is_a_matrix_product_and_an_argmax():
    states = np.random.default_rng(0).normal(size=(50, 3))
    expected = np.argmax(states @ WEIGHTS.T + [0.25, 0.0], axis=1)
    assert (SMALL.predict(states)[0] == expected).all()
    assert SMALL.predict(states[0])[0] == expected[0]


def test_layers_without_activations_are_one_linear_map():
    first = (np.arange(6.0).reshape(2, 3), np.array([1.0, -1.0]))
    second = (np.array([[1.0, -1.0], [2.0, 0.5]]), np.array([0.0, 3.0]))
    deep = LinearMLP((first, second), FEATURES, ACTIONS)
    x = np.array([0.3, -0.2, 0.9])
    hidden, scores = deep.units(x)
    assert hidden == pytest.approx(first[0] @ x + first[1])
    assert scores == pytest.approx(second[0] @ hidden + second[1])


@given(arrays(np.float64, (2, 3), elements=NUMBERS), st.integers(1, 3))
def test_binarised_keeps_the_strongest_inputs_and_their_signs(weights, keep):
    mlp = LinearMLP(((weights, np.zeros(2)),), FEATURES, ACTIONS).binarised(keep)
    assert set(np.unique(mlp.layers[0][0])) <= {-1, 0, 1}
    (found, biases) = mlp.layers[0]
    assert (biases == 0).all()
    for row, original in zip(found, weights, strict=True):
        kept = row != 0
        assert kept.sum() <= keep
        assert (np.sign(original)[kept] == row[kept]).all()
        if kept.any() and not kept.all():
            assert np.abs(original[kept]).min() >= np.abs(original[~kept]).max()


def test_a_bias_stays_in_proportion():
    assert SMALL.binarised(1).layers[0][1].tolist() == [round(0.25 / 2.0, 2), 0.0]
    assert SMALL.binarised(3).layers[0][1].tolist() == [round(0.25 / (2.6 / 3), 2), 0.0]


def test_keep_must_be_positive():
    with pytest.raises(CrisptreeError, match="keep is 0"):
        SMALL.binarised(0)


def test_files_come_back_as_they_went(tmp_path):
    SMALL.save(tmp_path / "mlp.json")
    again = LinearMLP.load(tmp_path / "mlp.json")
    assert again.to_dict() == SMALL.to_dict()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "crisptree.policy"}, "format: Input should be 'crisptree.mlp'"),
        ({"version": 2}, "version: Input should be 1"),
        ({"layers": []}, "layers is empty"),
        ({"layers": {}}, "layers: Input should be a valid list"),
        ({"layers": [3]}, r"layers\[0\]: Input should be a valid dictionary"),
        ({"layers": [{"weights": [[1.0]]}]}, r"layers\[0\].biases: Field required"),
        ({"layers": [{"weights": [[1, 2], [3]], "biases": [0]}]}, "must be a table of numbers"),
        ({"layers": [{"weights": [[1, 2, 3]], "biases": [0]}]}, r"must be \(2, 3\) and \(2,\)"),
        ({"layers": [{"weights": "x", "biases": [0, 0]}]}, r"layers\[0\].weights: Input should"),
        ({"layers": [{"weights": [["1"]], "biases": [0, 0]}]}, "should be a valid number"),
        ({"layers": [{"weights": [[1e999] * 3] * 2, "biases": [0, 0]}]}, "finite numbers"),
        ({"feature_names": ["a", "a", "b"]}, "repeats 'a'"),
        ({"env_id": 3}, "env_id: Input should be a valid string"),
        ({"training": []}, "training: Input should be a valid dictionary"),
        ({"more": 1}, "more: there is no such entry"),
        ({"\x1b[2J": 1}, "there is no such entry"),
    ],
)
def test_a_wrong_file_is_refused_in_words(tmp_path, change, message):
    path = tmp_path / "mlp.json"
    path.write_text(json.dumps(SMALL.to_dict() | change))
    with pytest.raises(CrisptreeError, match=message) as caught:
        LinearMLP.load(path)
    assert str(path) in str(caught.value)
    assert "\x1b" not in str(caught.value) and "\n" not in str(caught.value)


def test_a_missing_field_is_named():
    content = SMALL.to_dict()
    del content["layers"]
    with pytest.raises(CrisptreeError, match="layers: Field required"):
        LinearMLP.from_dict(content)


def test_not_a_number_is_no_weight():
    with pytest.raises(CrisptreeError, match="finite numbers"):
        LinearMLP(((WEIGHTS * np.nan, np.zeros(2)),), FEATURES, ACTIONS)
