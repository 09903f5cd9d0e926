from collections import Counter
from itertools import pairwise, permutations

import pytest

from crisptree.lab.study.orders import balanced_orders, next_row, shuffled_items


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6])
def test_every_aid_stands_and_follows_equally_often(k):
    orders = balanced_orders(k)
    assert len(orders) == (k if k % 2 == 0 else 2 * k)
    assert len(set(orders)) == len(orders)
    for place in range(k):
        assert set(Counter(order[place] for order in orders).values()) == {len(orders) // k}
    follows = Counter(pair for order in orders for pair in pairwise(order))
    assert len(follows) == k * (k - 1) and len(set(follows.values())) == 1


def test_three_aids_have_all_six_orders():
    assert set(balanced_orders(3)) == set(permutations(range(3)))


def test_the_row_used_least_comes_next():
    used: list[int] = []
    for _ in range(20):
        used.append(next_row(used, 6))
    assert max(Counter(used).values()) - min(Counter(used).values()) <= 1
    assert next_row([0, 1, 3, 3], 6) == 2


def test_each_participant_has_an_order_of_questions_that_comes_back():
    orders = [shuffled_items(3, 5, 0, number) for number in range(20)]
    assert orders == [shuffled_items(3, 5, 0, number) for number in range(20)]
    assert len(set(orders)) == 20
    assert all(sorted(order) == list(range(5)) for each in orders for order in each)
