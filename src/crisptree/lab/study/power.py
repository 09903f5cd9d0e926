"""The power of a planned study, by simulation: how often would it find what one expects?"""

from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy import special, stats

from crisptree.lab.study.simulate import Assumptions, simulate_study
from crisptree.lab.study.statistics.anova import f_ratio
from crisptree.lab.study.statistics.checks import friedman
from crisptree.lab.study.statistics.intervals import share_interval
from crisptree.lab.study.statistics.pairs import dunn_z, holm, tukey_t


@dataclass(frozen=True)
class Power:
    """Shares of simulated studies in which a test came out at the level α."""

    people: int
    ratings: float
    """Repeated-measures ANOVA over all aids."""
    times: float
    """Friedman's test over all aids."""
    ratings_pairs: tuple[float, ...]
    """Tukey, pair by pair: first and second aid, first and third, …"""
    times_pairs: tuple[float, ...]
    """Dunn with Holm's adjustment, pair by pair."""
    accuracy: float
    """Friedman's test of the shares of right answers, over all aids."""
    studies: int

    def interval(self, share: float) -> tuple[float, float]:
        """How far `studies` simulations leave a share open, 95 %."""
        return share_interval(share, self.studies)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def power(
    assumed: Assumptions,
    n_people: int,
    n_items: int,
    n_statements: int,
    *,
    studies: int,
    alpha: float,
    seed: int,
) -> Power:
    """The power with so many people. A test that cannot be computed has found nothing."""
    k = len(assumed.ratings)
    df_error = (n_people - 1) * (k - 1)
    least_f = float(stats.f.ppf(1 - alpha, k - 1, df_error))
    least_t = float(stats.studentized_range.ppf(1 - alpha, k, df_error)) / np.sqrt(2)
    rng = np.random.default_rng([seed, n_people])
    pairs = len(list(combinations(range(k), 2)))
    found = np.zeros(3 + 2 * pairs)
    for _ in range(studies):
        study = simulate_study(assumed, n_people, n_items, n_statements, rng)
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
