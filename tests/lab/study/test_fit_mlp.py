import numpy as np

from crisptree.lab.study.cross_entropy import Search
from crisptree.lab.study.fit_mlp import fit_mlp


def test_the_most_readable_network_within_one_per_cent_is_taken():
    """Returns by hand: keeping one input is bad, two nearly as good as three."""
    by_inputs = {1: 10.0, 2: 99.5, 3: 100.0}

    def selection_return(mlp):
        return by_inputs[int((mlp.layers[0][0] != 0).sum(axis=1).max())]

    trained, binarised, keep = fit_mlp(
        ("a", "b", "c"),
        ("left", "right"),
        "Some-v0",
        training_return=lambda mlp, _: float(mlp.layers[0][0][1, 0]),
        selection_return=selection_return,
        search=Search(4, 10, 3),
        seed=0,
    )
    assert keep == 2 and binarised.is_binarised and not trained.is_binarised
    assert (np.sign(trained.layers[0][0])[binarised.layers[0][0] != 0] != 0).all()
