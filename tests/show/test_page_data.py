import json

import numpy as np
from sample_trees import AWKWARD, LEAF, LIST, TREE

from crisptree.crisp import CrispTree
from crisptree.show.page_data import in_html, page_data
from crisptree.show.replay import Episode, Replay
from crisptree.show.words import Words


def data_of(tree, replay=None):
    data = page_data(tree, Words(tree), replay or Replay())
    return json.loads(in_html(data))


def states(count=200):
    return np.random.default_rng(0).normal(0, 1, (count, 4)).astype(np.float32)


def test_visits_are_counted_on_the_decision_paths():
    seen = states()
    replay = Replay((Episode(1, seen[:, None], np.ones(len(seen) - 1), "terminated"),))
    data = data_of(TREE, replay)
    expected = np.zeros(TREE.n_nodes, int)
    for state in seen[:-1]:
        expected[list(TREE.decision_path(state))] += 1
    assert data["visits"] == expected.tolist() and data["states"] == len(seen) - 1


def test_the_values_a_node_sees():
    seen = states()
    data = data_of(TREE, Replay((Episode(1, seen[:, None], np.ones(199), "terminated"),)))
    for node in range(TREE.n_nodes):
        feature = TREE.feature[node]
        if feature >= 0:
            passing = [state for state in seen[:-1] if node in TREE.decision_path(state)]
            values = [float(state[feature]) for state in passing]
            assert data["seen"][node] == ([min(values), max(values)] if values else None)


def test_without_a_replay():
    data = data_of(TREE)
    assert data["visits"] is None and data["episodes"] == [] and data["states"] == 0
    assert len(data["start"]) == 4


def test_thresholds_keep_every_digit():
    assert data_of(TREE)["nodes"]["threshold"] == TREE.threshold.tolist()


def test_where_a_node_is_reached():
    where = data_of(TREE)["where"]
    assert where[0] == ""
    leaf = TREE.rules()[0].leaf
    assert where[leaf] == "pole angular velocity > 0.242 and pole angle > -0.0512"


def test_a_list_is_a_chain_and_a_tree_is_none():
    assert data_of(LIST)["chain"]["links"][1]["answer"] is False
    assert [rule["text"].split()[0] for rule in data_of(LIST)["rules"]] == [
        "if",
        "else",
        "else",
        "otherwise",
    ]
    assert data_of(TREE)["chain"] is None
    assert data_of(LEAF)["rules"][0]["text"] == "always"


def test_no_name_ends_the_script():
    text = in_html({"name": "</script><!--<script>&\u2028"})
    assert not set("<>&") & set(text) and text.isascii()
    assert json.loads(text) == {"name": "</script><!--<script>&\u2028"}


def test_awkward_names_are_printable():
    data = data_of(AWKWARD)
    assert all(name.isprintable() for name in data["features"] + data["actions"])


def test_sliders_reach_beyond_every_threshold():
    for tree in (TREE, LIST):
        ranges = data_of(tree)["ranges"]
        for feature, threshold, _, _ in tree.nodes:
            if feature >= 0:
                assert ranges[feature][0] < threshold < ranges[feature][1]


def test_huge_thresholds_give_finite_sliders():
    tree = CrispTree.from_nested(("a", 1.7e308, 0, ("a", -1.7e308, 1, 0)), ("a",), ("x", "y"))
    assert np.isfinite(data_of(tree)["ranges"]).all()


def test_training_is_shown_as_text_and_not_without_end():
    tree = CrispTree.leaf(0, ("a",), ("x",), training={"note": "<b>" + "x" * 50_000})
    assert len(data_of(tree)["training"]) < 21_000
