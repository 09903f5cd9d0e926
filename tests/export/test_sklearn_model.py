import io
import sys

import joblib
import numpy as np
import pytest
from export_trees import CONSTANT, EXTREME, KINDS, grown
from sklearn.base import clone
from sklearn.tree import export_graphviz, export_text, plot_tree

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.export import as_sklearn, check
from crisptree.export.sklearn_model import as_joblib, decider

TREE = CrispTree.from_nested(
    ("angle", 0.25, ("speed", -1.0, "right", "left"), "left"), ("angle", "speed"), ("left", "right")
)


@pytest.mark.parametrize("tree", CONSTANT.values(), ids=CONSTANT)
def test_odd_trees(tree):
    assert check(tree, decider(as_joblib(tree)), np.float32, 2000) >= 2000


def test_thresholds_keep_their_float64():
    assert sorted(as_sklearn(EXTREME).tree_.threshold) == sorted(
        np.where(EXTREME.feature < 0, -2, EXTREME.threshold)
    )


def test_export_text():
    assert export_text(as_sklearn(TREE), feature_names=TREE.feature_names) == (
        "|--- angle <= 0.25\n"
        "|   |--- class: 0\n"
        "|--- angle >  0.25\n"
        "|   |--- speed <= -1.00\n"
        "|   |   |--- class: 0\n"
        "|   |--- speed >  -1.00\n"
        "|   |   |--- class: 1\n"
    )


def test_graphviz_shows_leaves_as_samples_and_true_where_at_most():
    drawn = export_graphviz(as_sklearn(TREE), class_names=TREE.action_names)
    assert drawn is not None
    assert "samples = 3\\nvalue = [2, 1]\\nclass = left" in drawn
    assert '0 -> 1 [labeldistance=2.5, labelangle=45, headlabel="True"]' in drawn
    assert '1 [label="gini = 0.0\\nsamples = 1\\nvalue = [1, 0]\\nclass = left"]' in drawn


def test_plot_tree():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    assert len(plot_tree(as_sklearn(grown(8, 0)), ax=axes)) >= 15
    pyplot.close(figure)


def test_the_methods_of_a_fitted_classifier():
    tree = grown(16, 4)
    classifier = as_sklearn(tree)
    states = np.random.default_rng(0).normal(size=(300, 8)).astype(np.float32)
    assert np.array_equal(classifier.predict(states), tree.predict(states)[0])
    leaves = set(zip(classifier.apply(states).tolist(), tree.apply(states).tolist(), strict=True))
    assert len({ours for _, ours in leaves}) == len({theirs for theirs, _ in leaves}) == len(leaves)
    assert classifier.get_n_leaves() == 16 and classifier.get_depth() == tree.depth
    assert classifier.predict_proba(states).shape == (300, 4)
    lengths = [len(tree.decision_path(state)) for state in states]
    assert classifier.decision_path(states).sum(axis=1).ravel().tolist() == [lengths]
    assert classifier.score(states, tree.predict(states)[0]) == 1.0
    assert not hasattr(clone(classifier), "tree_")


def test_the_file_gives_back_the_classifier():
    tree = grown(4, 0)
    loaded = joblib.load(io.BytesIO(as_joblib(tree)))
    assert export_text(loaded) == export_text(as_sklearn(tree))


def test_a_missing_value_goes_where_a_comparison_is_false():
    states = np.array([[np.nan, 9.0], [9.0, np.nan], [np.nan, np.nan]], np.float32)
    assert as_sklearn(TREE).predict(states).tolist() == [0, 0, 0]


def test_several_choices_are_several_outputs():
    tree = KINDS["several choices"]
    classifier = as_sklearn(tree)
    states = np.random.default_rng(0).normal(size=(100, 3)).astype(np.float32)
    assert classifier.predict(states).tolist() == tree.predict(states)[0].tolist()
    assert [each.tolist() for each in classifier.classes_] == [[1, 2], [0, 1, 2]]
    assert [each.shape for each in classifier.predict_proba(states)] == [(100, 2), (100, 3)]
    assert "class:" in export_text(classifier)


def test_vectors_are_a_regressor():
    tree = KINDS["vectors"]
    regressor = as_sklearn(tree)
    states = np.random.default_rng(0).normal(size=(100, 3)).astype(np.float32)
    assert np.array_equal(regressor.predict(states), tree.act(states))
    assert np.allclose(regressor.tree_.value[0, :, 0], tree.action[tree.feature < 0].mean(axis=0))
    assert "value:" in export_text(regressor)


def test_without_scikit_learn(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.tree", None)
    with pytest.raises(CrisptreeError, match=r"pip install 'crisptree\[train\]'"):
        as_sklearn(TREE)
