"""Everything the report says in numbers, as one plain object."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, is_dataclass
from itertools import combinations
from typing import Any

import numpy as np

from crisptree.lab.study.answer_table import Row
from crisptree.lab.study.confidence import (
    cronbachs_alpha,
    mean_interval,
    ratio_interval,
    share_interval,
    within_person_intervals,
)
from crisptree.lab.study.measures import MOST_AWAY_SECONDS, Measured, measure
from crisptree.lab.study.rank_tests import Friedman, RankPair, dunn, friedman
from crisptree.lab.study.records import Study
from crisptree.lab.study.repeated_measures import (
    Measures,
    RepeatedMeasuresAnova,
    TukeyPair,
    levene_p,
    repeated_measures_anova,
    shapiro_wilk_p,
    tukey,
)

FEWEST_FOR_TESTS = 3
FEW = 10


@dataclass(frozen=True)
class PolicySummary:
    policy: str
    accuracy: float
    accuracy_95: tuple[float, float]
    """Wilson's interval with the number of people, since the answers of one person are not
    independent."""
    error_mean: float
    """How far numbers were off on average; NaN where the answers are choices."""
    seconds_mean: float
    seconds_95: tuple[float, float]
    seconds_median: float
    seconds_geometric_mean: float
    rating_mean: float
    rating_95: tuple[float, float]
    rating_sd: float
    statements: dict[str, float]
    """The mean score of each statement, reversed ones turned."""


@dataclass(frozen=True)
class Tests:
    """The paper's battery on one measure."""

    anova: RepeatedMeasuresAnova
    shapiro_wilk_p: float
    levene_p: float
    tukey: list[TukeyPair]
    friedman: Friedman
    dunn: list[RankPair]
    within_person_95: list[tuple[float, float]]


@dataclass(frozen=True)
class TimeRatio:
    first: int
    second: int
    ratio: float
    """How many times as long `first` takes as `second`."""
    interval_95: tuple[float, float]


@dataclass(frozen=True)
class StudyResults:
    measured: Measured
    policies: list[PolicySummary]
    cronbachs_alpha: float
    ratings: Tests | None
    times: Tests | None
    log_times: Tests | None
    """The same on the logarithm of the times, which are skewed."""
    time_ratios: list[TimeRatio]
    accuracy_friedman: Friedman | None
    cannot_say: list[str]
    """What the data do not allow to say, with so few people or such answers."""


def results_of(
    study: Study, rows: Sequence[Row], most_away_seconds: float = MOST_AWAY_SECONDS
) -> StudyResults:
    """The results of the answers to a study."""
    names = [block.name for block in study.definition.blocks]
    statements = study.definition.questionnaire.statements
    return analyse(measure(rows, names, statements, most_away_seconds))


def analyse(measured: Measured) -> StudyResults:
    """Summaries, tests and limits of one study."""
    n, k = len(measured.people), len(measured.policies)
    enough = n >= FEWEST_FOR_TESTS
    return StudyResults(
        measured=measured,
        policies=[_summary(measured, at) for at in range(k)] if n else [],
        cronbachs_alpha=cronbachs_alpha(measured.scores.reshape(n * k, -1)) if n else math.nan,
        ratings=_tests(measured.rating) if enough else None,
        times=_tests(measured.seconds) if enough else None,
        log_times=_tests(np.log(measured.seconds)) if enough else None,
        time_ratios=[_ratio(measured, i, j) for i, j in combinations(range(k), 2)] if n > 1 else [],
        accuracy_friedman=friedman(measured.accuracy) if enough else None,
        cannot_say=cannot_say(measured),
    )


def cannot_say(measured: Measured) -> list[str]:
    """The limits of the data, in words."""
    n = len(measured.people)
    if n == 0:
        return ["Nobody has finished the questionnaire, so nothing can be said."]
    said = []
    if n < FEWEST_FOR_TESTS:
        who = "one person" if n == 1 else "two people"
        said.append(f"With {who} no test is made: the figures describe them and nobody else.")
    elif n < FEW:
        said.append(
            f"With {n} people, the p-values of the rank tests are rough approximations, the tests "
            "for normality and equal variances would miss all but gross departures, and a "
            "difference that is not significant may well exist."
        )
    for name, table in (("ratings", measured.rating), ("accuracies", measured.accuracy)):
        if n >= FEWEST_FOR_TESTS and np.ptp(table, axis=1).max() == 0:
            said.append(
                f"Nobody's {name} differ between the policies, so their tests are undefined."
            )
    return said


def to_json(value: Any) -> Any:
    """The results in JSON's own types; what is undefined becomes null."""
    if is_dataclass(value) and not isinstance(value, type):
        return to_json(asdict(value))
    if isinstance(value, dict):
        return {key: to_json(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(each) for each in value]
    if isinstance(value, np.ndarray | np.generic):
        return to_json(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _summary(measured: Measured, at: int) -> PolicySummary:
    accuracy, seconds = measured.accuracy[:, at], measured.seconds[:, at]
    rating, share = measured.rating[:, at], float(accuracy.mean())
    return PolicySummary(
        policy=measured.policies[at],
        accuracy=share,
        accuracy_95=share_interval(share, len(measured.people)),
        error_mean=float(measured.error[:, at].mean()),
        seconds_mean=float(seconds.mean()),
        seconds_95=mean_interval(seconds),
        seconds_median=float(np.median(seconds)),
        seconds_geometric_mean=float(np.exp(np.log(seconds).mean())),
        rating_mean=float(rating.mean()),
        rating_95=mean_interval(rating),
        rating_sd=float(rating.std(ddof=1)) if len(rating) > 1 else math.nan,
        statements=dict(
            zip(measured.statements, measured.scores[:, at].mean(axis=0).tolist(), strict=True)
        ),
    )


def _tests(x: Measures) -> Tests:
    return Tests(
        anova=repeated_measures_anova(x),
        shapiro_wilk_p=shapiro_wilk_p(x),
        levene_p=levene_p(x),
        tukey=tukey(x),
        friedman=friedman(x),
        dunn=dunn(x),
        within_person_95=within_person_intervals(x),
    )


def _ratio(measured: Measured, i: int, j: int) -> TimeRatio:
    ratio, low, high = ratio_interval(measured.seconds[:, i], measured.seconds[:, j])
    return TimeRatio(i, j, ratio, (low, high))
