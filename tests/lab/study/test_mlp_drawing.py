import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np

from crisptree.lab.study import LinearMLP
from crisptree.lab.study.mlp_drawing import MLPDrawing, sum_terms

FEATURES = ("cart position", "cart velocity", "pole angle", "pole angular velocity")
ACTIONS = ("push left", "push right")
ONE_HOT = LinearMLP(
    ((np.array([[0.0, -1.0, -1.0, 0.0], [0.0, 0.0, 1.0, 1.0]]), np.zeros(2)),), FEATURES, ACTIONS
)
DEEP = LinearMLP(
    (
        (np.linspace(-1, 1, 12).reshape(3, 4), np.array([0.0, 0.5, -0.25])),
        (np.array([[1.0, 0.0, -1.0], [0.33, 0.0, 0.0]]), np.zeros(2)),
    ),
    FEATURES,
    ACTIONS,
)


def test_the_sums_in_words():
    assert MLPDrawing(ONE_HOT).text() == (
        "Work out each score:\n"
        "score of push left = − cart velocity − pole angle\n"
        "score of push right = + pole angle + pole angular velocity\n"
        "The policy takes the action with the highest score.\n"
    )


def test_hidden_sums_come_first_and_are_used():
    words = MLPDrawing(DEEP).text()
    assert "First work out these sums:\nsum a1 = " in words
    assert "Then work out each score:\nscore of push left = " in words
    assert "sum a1" in words.split("Then work out")[1]


def test_every_term_stands_in_the_drawing():
    for mlp in (ONE_HOT, DEEP):
        texts = [each.text for each in ET.fromstring(MLPDrawing(mlp).svg()).iter() if each.text]
        for layer, (weights, biases) in enumerate(mlp.as_shown().layers):
            names = ["sum a1", "sum a2", "sum a3"] if layer else [*mlp.feature_names]
            for row, bias in zip(weights.tolist(), biases.tolist(), strict=True):
                for line in sum_terms(row, bias, names):
                    assert line in texts


def test_terms():
    assert sum_terms([1.0, -1.0, 0.0], 0.0, ["a", "b", "c"]) == ["+ a", "− b"]
    assert sum_terms([0.25, 0.0, 0.0], -1.5, ["a", "b", "c"]) == ["+ 0.25 × a", "− 1.50"]
    assert sum_terms([0.0], 0.0, ["a"]) == ["+ 0.00"]


def test_odd_names_cannot_break_the_drawing():
    odd = replace(ONE_HOT, feature_names=("<b>&", "\x1b[2J", "x" * 90, '"'))
    root = ET.fromstring(MLPDrawing(odd).svg())
    assert "\x1b" not in ET.tostring(root, encoding="unicode")
    assert np.isfinite(float(root.attrib["width"]))
