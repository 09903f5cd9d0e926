from collections import Counter
from itertools import pairwise, permutations

import pytest

from crisptree.lab.study.page_sequence import (
    CONSENT,
    Assignment,
    balanced_orders,
    next_page,
    next_row,
    page_sequence,
    shuffled_items,
)


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6])
def test_every_policy_stands_and_follows_equally_often(k):
    orders = balanced_orders(k)
    assert len(orders) == (k if k % 2 == 0 else 2 * k)
    assert len(set(orders)) == len(orders)
    for place in range(k):
        assert set(Counter(order[place] for order in orders).values()) == {len(orders) // k}
    follows = Counter(pair for order in orders for pair in pairwise(order))
    assert len(follows) == k * (k - 1) and len(set(follows.values())) == 1


def test_three_policies_have_all_six_orders():
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


ASSIGNMENT = Assignment((2, 0, 1), ((4, 3, 2, 1, 0), (0, 1, 2, 3, 4), (1, 0, 2, 3, 4)))


def test_the_order_of_pages(definition):
    keys = [page.key for page in page_sequence(definition, ASSIGNMENT)]
    assert keys[:6] == [
        "consent",
        "instructions",
        "practice-mlp",
        "worked-mlp",
        "item-mlp-2",
        "item-mlp-1",
    ]
    assert keys[9:13] == ["ratings-mlp", "practice-tree", "worked-tree", "item-tree-5"]
    assert keys[-1] == "closing" and len(keys) == len(set(keys)) == 27


def test_before_agreeing_there_is_one_page(definition):
    assert page_sequence(definition, None) == (CONSENT,)


def test_the_next_page_is_the_first_unanswered(definition):
    pages = page_sequence(definition, ASSIGNMENT)
    assert next_page(pages, []) == CONSENT
    assert next_page(pages, {"consent", "instructions", "closing"}) == pages[2]
    assert next_page(pages, {page.key for page in pages}) is None
