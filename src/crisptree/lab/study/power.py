"""The power of a planned study by simulation: how often it would find the expected effects."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy import special, stats

from crisptree.base.errors import CrisptreeError
from crisptree.lab.study.confidence import share_interval
from crisptree.lab.study.rank_tests import dunn_z, friedman, holm
from crisptree.lab.study.repeated_measures import f_ratio, tukey_t
from crisptree.lab.study.simulation import Assumptions, simulate_study
from crisptree.lab.study.study_report import write_report
from crisptree.lab.study.study_results import analyse

MOST_PEOPLE = 1000
MOST_STUDIES = 100_000


@dataclass(frozen=True)
class Power:
    """Shares of simulated studies in which a test came out at the level α."""

    people: int
    ratings: float
    """Repeated-measures ANOVA over all policies."""
    times: float
    """Friedman's test over all policies."""
    ratings_pairs: tuple[float, ...]
    """Tukey, pair by pair: first and second policy, first and third, …"""
    times_pairs: tuple[float, ...]
    """Dunn with Holm's adjustment, pair by pair."""
    accuracy: float
    """Friedman's test of the shares of right answers, over all policies."""
    studies: int

    def interval(self, share: float) -> tuple[float, float]:
        """Half the width of the 95 % interval of a share after `studies` simulations."""
        return share_interval(share, self.studies)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def power(assumed: Assumptions, n_people: int, *, studies: int, alpha: float, seed: int) -> Power:
    """The power with so many people. A test that cannot be computed has found nothing."""
    k = len(assumed.ratings)
    df_error = (n_people - 1) * (k - 1)
    least_f = float(stats.f.ppf(1 - alpha, k - 1, df_error))
    least_t = float(stats.studentized_range.ppf(1 - alpha, k, df_error)) / np.sqrt(2)
    rng = np.random.default_rng([seed, n_people])
    pairs = len(list(combinations(range(k), 2)))
    found = np.zeros(3 + 2 * pairs)
    for _ in range(studies):
        study = simulate_study(assumed, n_people, rng)
        z_p = 2 * special.ndtr(-np.abs(dunn_z(study.seconds)))
        with np.errstate(invalid="ignore"):
            found += np.concatenate(
                [
                    [
                        f_ratio(study.rating) > least_f,
                        friedman(study.seconds).p < alpha,
                        friedman(study.accuracy).p < alpha,
                    ],
                    np.abs(tukey_t(study.rating)) > least_t,
                    holm(z_p) < alpha,
                ]
            )
    ratings, times, accuracy, *by_pair = (found / studies).tolist()
    of_ratings, of_times = tuple(by_pair[:pairs]), tuple(by_pair[pairs:])
    return Power(n_people, ratings, times, of_ratings, of_times, accuracy, studies)


def plan(
    assumed: Assumptions, people: Sequence[int], *, studies: int, alpha: float, seed: int
) -> list[Power]:
    """The power for each number of people."""
    if not people or not all(3 <= n <= MOST_PEOPLE for n in people):
        raise CrisptreeError(f"a study needs 3 … {MOST_PEOPLE} people; {tuple(people)} were given")
    if not 1 <= studies <= MOST_STUDIES:
        raise CrisptreeError(f"{studies} studies cannot be simulated; 1 … {MOST_STUDIES:,} can")
    if not 0 < alpha < 1 or seed < 0:
        raise CrisptreeError(
            f"alpha is {alpha} and seed {seed}; alpha must lie between 0 and 1, seed not below 0"
        )
    return [power(assumed, n, studies=studies, alpha=alpha, seed=seed) for n in people]


def power_table(found: Sequence[Power], alpha: float) -> str:
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
            "policies, in the order given: Tukey's test (ratings), Dunn's with Holm's (times).",
            f"{found[0].studies:,} simulated studies each; 80% stands for {low:.0%} … {high:.0%}.",
        ]
    )


def write_example(assumed: Assumptions, n_people: int, seed: int, directory: Path) -> None:
    """The report of one simulated study, marked as simulated."""
    study = simulate_study(assumed, n_people, np.random.default_rng(seed))
    write_report(analyse(study), "An example with simulated people", directory)
