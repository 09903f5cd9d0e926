"""Planning a study: its power for several numbers of people, and what its report will look like."""

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.lab.study.analysis import analyse
from crisptree.lab.study.folder import write_report
from crisptree.lab.study.power import Power, power
from crisptree.lab.study.simulate import Assumptions, simulate_study

MOST_PEOPLE = 1000
MOST_STUDIES = 100_000


def plan(
    assumed: Assumptions,
    people: Sequence[int],
    n_items: int,
    n_statements: int,
    *,
    studies: int,
    alpha: float,
    seed: int,
) -> list[Power]:
    """The power for each number of people."""
    if not people or not all(3 <= n <= MOST_PEOPLE for n in people):
        raise CrisptreeError(f"a study needs 3 … {MOST_PEOPLE} people; {tuple(people)} were given")
    if n_items < 1 or n_statements < 1:
        raise CrisptreeError("there must be at least one question and one statement about an aid")
    if not 1 <= studies <= MOST_STUDIES:
        raise CrisptreeError(f"{studies} studies cannot be simulated; 1 … {MOST_STUDIES:,} can")
    if not 0 < alpha < 1:
        raise CrisptreeError(f"alpha is {alpha}; it must lie between 0 and 1")
    return [
        power(assumed, n, n_items, n_statements, studies=studies, alpha=alpha, seed=seed)
        for n in people
    ]


def told(found: Sequence[Power], alpha: float) -> str:
    """The result as a table of per cents."""
    n_pairs = len(found[0].ratings_pairs)
    k = next(k for k in range(2, 100) if k * (k - 1) // 2 == n_pairs)
    pairs = [f"{i}–{j}" for i, j in combinations(range(1, k + 1), 2)]
    rows = [
        ["", "ratings", *[""] * n_pairs, "times", *[""] * n_pairs, "accuracy"],
        ["people", "all", *pairs, "all", *pairs, "all"],
    ]
    for each in found:
        ratings, times = (each.ratings, *each.ratings_pairs), (each.times, *each.times_pairs)
        shares = (*ratings, *times, each.accuracy)
        rows.append([str(each.people), *(f"{share:.0%}" for share in shares)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    low, high = found[0].interval(0.8)
    return "\n".join(
        [
            f"Studies in which a test would come out at {alpha:g}, under your assumptions:",
            "",
            *lines,
            "",
            "all: repeated-measures ANOVA (ratings), Friedman's test (times, accuracy). Pairs of",
            "aids, in the order given: Tukey's test (ratings), Dunn's with Holm's (times).",
            f"{found[0].studies:,} simulated studies each; 80% stands for {low:.0%} … {high:.0%}.",
        ]
    )


def write_example(
    assumed: Assumptions, n_people: int, n_items: int, n_statements: int, seed: int, folder: Path
) -> None:
    """The report of one simulated study, which says of itself that it is one."""
    rng = np.random.default_rng(seed)
    study = simulate_study(assumed, n_people, n_items, n_statements, rng)
    write_report(analyse(study), "An example with simulated people", folder)
