import json

import numpy as np
import pytest
from sample_trees import AWKWARD, CAR, EVERY_KIND, EXTREME, FLAGS, LEAF, LIST, PENDULUM, TREE

from crisptree.crisp import CrispTree
from crisptree.show.page_data import in_html, page_data
from crisptree.show.recording import RecordedEpisode, Recording
from crisptree.show.wording import Wording


def data_of(tree, recording=None, states=None):
    states = np.empty((0, tree.n_features)) if states is None else states
    data = page_data(tree, Wording(tree, minus="−"), recording or Recording(), states)
    return json.loads(in_html(data))


def states(count=200):
    return np.random.default_rng(0).normal(0, 1, (count, 4)).astype(np.float32)


def test_visits_and_histograms():
    data = data_of(TREE, states=states())
    assert data["visits"][0] == data["states"] == 200
    low, high, below, above = data["nodes"][0]["histogram"]
    assert sum(below) + sum(above) == 200 and low < 0 < high


def test_without_states():
    data = data_of(TREE)
    assert data["visits"] is None and data["episodes"] == [] and data["states"] == 0
    assert data["nodes"][0]["histogram"] is None
    assert len(data["start"]) == 4


def test_thresholds_keep_every_digit():
    thresholds = [node.get("threshold", 0.0) for node in data_of(TREE)["nodes"]]
    assert thresholds == TREE.threshold.tolist()


def test_the_first_observation():
    seen = states()
    episode = RecordedEpisode(1, seen[:, None] + 1, np.ones(199), "terminated")
    assert data_of(TREE, Recording((episode,)), seen)["start"] == (seen[0] + 1).tolist()
    assert data_of(TREE, states=seen)["start"] == seen[0].tolist()


def test_what_a_node_says():
    nodes = data_of(TREE)["nodes"]
    assert nodes[0]["where"] == "" and nodes[0]["question"] == "pole angular velocity > 0.242"
    leaf = nodes[TREE.rules()[1].leaf]
    assert leaf["where"] == "pole angular velocity > 0.242 and pole angle ≤ −0.0512"
    assert leaf["text"] == "push left" and leaf["lines"] == [["push left", None]]


def test_flags_and_categories():
    data = data_of(FLAGS)
    assert data["nodes"][0]["flag"] and data["nodes"][0]["tests"] == ["no", "yes"]
    row, passenger = data["features"][2:4]
    assert row["range"] == [0.0, 7.0] and row["categories"] == []
    assert passenger["categories"][4] == "in the taxi" and passenger["first"] == 0
    assert data["start"][:4] == [0.0, 0.0, 0.0, 0.0]


def test_what_linear_leaves_compute():
    data = data_of(PENDULUM)
    leaf = data["nodes"][3]
    assert leaf["values"] == [1.2] and leaf["gains"] == [[0, 2, -3.1]]
    assert data["actions"]["names"] == ["torque"]
    scale = data["actions"]["scales"][0]
    assert (scale["low"], scale["high"]) == (-2.0, 2.0)
    assert data["legend"][0]["low"] == "−2" and len(data["legend"][0]["colours"]) == 33


def test_several_choices():
    data = data_of(CAR)
    assert data["nodes"][1]["lines"] == [["steer left", None], ["brake off", None]]
    assert next(entry["label"] for entry in data["legend"]) == "steer left, brake off"


def test_a_list_is_a_list_and_a_tree_is_none():
    assert data_of(LIST)["list"]["rules"][1]["answer"] is False
    assert [rule["text"].split()[0] for rule in data_of(LIST)["rules"]] == [
        "if",
        "else",
        "else",
        "otherwise",
    ]
    assert data_of(TREE)["list"] is None
    assert data_of(LEAF)["rules"][0]["text"] == "always"


def test_no_name_ends_the_script():
    text = in_html({"name": "</script><!--<script>&\u2028"})
    assert not set("<>&") & set(text) and text.isascii()
    assert json.loads(text) == {"name": "</script><!--<script>&\u2028"}


def test_awkward_names_are_printable():
    data = data_of(AWKWARD)
    names = [feature["name"] for feature in data["features"]]
    texts = [node["text"] for node in data["nodes"] if "text" in node]
    assert all(name.isprintable() for name in names + texts)


@pytest.mark.parametrize("tree", EVERY_KIND.values(), ids=EVERY_KIND)
def test_sliders_reach_beyond_every_threshold_and_are_finite(tree):
    data = data_of(tree)
    for feature, threshold, _, _ in tree.nodes:
        if feature >= 0 and tree.features[feature].kind == "number":
            low, high = data["features"][feature]["range"]
            assert low < threshold < high
    assert np.isfinite(data["start"]).all()


def test_sliders_stay_within_what_the_environment_gives():
    from crisptree.crisp import Feature

    features = (Feature("x", low=-4.8, high=4.8), Feature("y", low=2.0, high=1.0e308))
    tree = CrispTree.from_nested(("x", 4.7, 0, ("y", 3.0, 1, 0)), (), ("a", "b"), features=features)
    first, second = (feature["range"] for feature in data_of(tree)["features"])
    assert first == [0.0, 4.8] and second[0] == 2.0


def test_values_that_are_not_finite():
    seen = np.array([[np.inf, 0.0, 0.0], [-np.inf, 1.0, 0.0]])
    episode = RecordedEpisode(1, seen[:, None], np.ones(1), "terminated")
    data = data_of(EXTREME, Recording((episode,)), seen)
    assert np.isfinite([feature["range"] for feature in data["features"]]).all()
    assert np.isfinite(data["start"]).all()


def test_observations_keep_their_precision():
    for dtype, single in ((np.float32, True), (np.float64, False)):
        episode = RecordedEpisode(1, states()[:, None].astype(dtype), np.ones(199), "terminated")
        assert data_of(TREE, Recording((episode,)))["episodes"][0]["single"] is single


def test_training_is_shown_as_text_and_not_without_end():
    tree = CrispTree.leaf(0, ("a",), ("x",), training={"note": "<b>" + "x" * 50_000})
    assert len(data_of(tree)["training"]) < 21_000
