"""What one participant does, page after page, and in which order.

Policies come in the rows of a Williams design (1949): in each column every policy appears equally
often, and every policy follows every other one equally often. An even number of policies needs as
many rows as policies, an odd number twice as many (all six for three).
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

import numpy as np

from crisptree.lab.study.definition import Definition

PageKind = Literal["consent", "instructions", "practice", "worked", "item", "ratings", "closing"]
Order = tuple[int, ...]


@dataclass(frozen=True)
class Page:
    key: str
    """The page's name in the database and in its address."""
    kind: PageKind
    block: int | None = None
    """Which of the study's blocks, for the pages about a policy."""
    item: int | None = None
    """Which of the block's items, for a question."""


@dataclass(frozen=True)
class Assignment:
    """The orders drawn for one participant."""

    blocks: Order
    items: tuple[Order, ...]
    """By block of the study, not by place in the order."""


CONSENT = Page("consent", "consent")


def page_sequence(definition: Definition, assignment: Assignment | None) -> tuple[Page, ...]:
    """All pages in the participant's order; before the orders are drawn, the first page only."""
    if assignment is None:
        return (CONSENT,)
    pages = [CONSENT, Page("instructions", "instructions")]
    for block in assignment.blocks:
        name = definition.blocks[block].name
        pages += [
            Page(f"practice-{name}", "practice", block),
            Page(f"worked-{name}", "worked", block),
            *(
                Page(f"item-{name}-{item + 1}", "item", block, item)
                for item in assignment.items[block]
            ),
            Page(f"ratings-{name}", "ratings", block),
        ]
    return (*pages, Page("closing", "closing"))


def next_page(pages: tuple[Page, ...], answered: Collection[str]) -> Page | None:
    """The first page without an answer; None when all have one."""
    return next((page for page in pages if page.key not in answered), None)


def balanced_orders(n_policies: int) -> tuple[Order, ...]:
    """The rows of the Williams design, the first of them 0, 1, n−1, 2, n−2, …"""
    zigzag = [0]
    for place in range(1, n_policies):
        zigzag.append((place + 1) // 2 if place % 2 else n_policies - place // 2)
    rows = [tuple((each + shift) % n_policies for each in zigzag) for shift in range(n_policies)]
    if n_policies % 2:
        rows += [row[::-1] for row in rows]
    return tuple(dict.fromkeys(rows))


def next_row(used: list[int], n_rows: int) -> int:
    """The row given to the fewest people so far, the first of equals."""
    counts = np.bincount(np.array(used, dtype=np.int64), minlength=n_rows)
    return int(np.argmin(counts[:n_rows]))


def shuffled_items(n_policies: int, n_items: int, seed: int, number: int) -> tuple[Order, ...]:
    """For one participant, the order of the questions about each policy."""
    rng = np.random.default_rng([seed, number])
    return tuple(tuple(rng.permutation(n_items).tolist()) for _ in range(n_policies))
