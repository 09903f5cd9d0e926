import numpy as np

from crisptree.lab.study import LinearMLP
from crisptree.lab.study.train_mlp import CrossEntropyConfig, cross_entropy, fewest_inputs


def test_it_finds_the_top_of_a_hill():
    top = np.array([1.0, -2.0, 0.5])
    found = cross_entropy(
        lambda weights, _: -float(np.square(weights - top).sum()),
        3,
        CrossEntropyConfig(generations=30, population=60, elite=10),
        np.random.default_rng(0),
    )
    assert np.abs(found - top).max() < 0.05


def test_one_seed_one_result():
    def run(seed):
        score = lambda weights, generation: float(weights[0]) + generation
        return cross_entropy(
            score, 2, CrossEntropyConfig(3, 8, 2), np.random.default_rng(seed)
        ).tolist()

    assert run(1) == run(1) != run(2)


def test_the_most_readable_network_within_one_per_cent_is_taken():
    """Returns by hand: keeping one input is bad, two nearly as good as three."""
    by_inputs = {1: 10.0, 2: 99.5, 3: 100.0}

    def selection_return(mlp):
        return by_inputs[int((mlp.layers[0][0] != 0).sum(axis=1).max())]

    weights = np.random.default_rng(0).normal(size=(2, 3))
    trained = LinearMLP(((weights, np.zeros(2)),), ("a", "b", "c"), ("left", "right"))
    binarised, keep = fewest_inputs(trained, selection_return)
    assert keep == 2 and set(np.unique(binarised.layers[0][0])) == {-1, 0, 1}
    assert (np.sign(weights)[binarised.layers[0][0] != 0] != 0).all()
