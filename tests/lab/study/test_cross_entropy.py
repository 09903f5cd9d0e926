import numpy as np

from crisptree.lab.study.cross_entropy import Search, cross_entropy


def test_it_finds_the_top_of_a_hill():
    top = np.array([1.0, -2.0, 0.5])
    found = cross_entropy(
        lambda weights, _: -float(np.square(weights - top).sum()),
        3,
        Search(generations=30, population=60, elite=10),
        np.random.default_rng(0),
    )
    assert np.abs(found - top).max() < 0.05


def test_one_seed_one_result():
    def run(seed):
        score = lambda weights, generation: float(weights[0]) + generation
        return cross_entropy(score, 2, Search(3, 8, 2), np.random.default_rng(seed)).tolist()

    assert run(1) == run(1) != run(2)
