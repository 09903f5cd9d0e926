import numpy as np

from crisptree.lab.analysis.update_rule import Update, in_pieces, without_rounding


def test_balance_is_what_is_left_after_cancelling():
    update = Update(np.array([1.0, 0.0, -1e-200, 0.0]), np.array([2.0, 3.0, 1e-200, 0.0]))
    np.testing.assert_array_equal(update.balance, [0.5, 0.0, -1.0, np.nan])


def test_what_rounding_leaves_over_counts_as_nothing():
    left_over = np.array([0.1 + 0.2 - 0.3, 1e-9])
    assert left_over[0] != 0
    np.testing.assert_array_equal(without_rounding(left_over, np.array([0.6, 0.6])), [0.0, 1e-9])


def test_pieces_make_the_whole():
    phi = np.linspace(0, 1, 1000)
    found = in_pieces(lambda piece: Update(piece**2, piece), phi)
    np.testing.assert_array_equal(found.total, phi**2)
    np.testing.assert_array_equal(found.terms, phi)
