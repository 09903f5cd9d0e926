"""Everything the report says in numbers, as one plain object."""

import math
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any

import numpy as np

from crisptree.lab.study.measures import Measured
from crisptree.lab.study.statistics import (
    Friedman,
    RankPair,
    RepeatedMeasuresAnova,
    TukeyPair,
    cronbachs_alpha,
    dunn,
    friedman,
    levene,
    mean_interval,
    ratio_interval,
    repeated_measures_anova,
    shapiro_wilk,
    share_interval,
    tukey,
    within_person_intervals,
)
from crisptree.lab.study.statistics.anova import Measures

FEWEST_FOR_TESTS = 3
FEW = 10


@dataclass(frozen=True)
class AidSummary:
    aid: str
    accuracy: float
    accuracy_95: tuple[float, float]
    """Wilson's interval with the number of people, since one person's answers hang together."""
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
class Analysis:
    measured: Measured
    aids: list[AidSummary]
    cronbachs_alpha: float
    ratings: Tests | None
    times: Tests | None
    log_times: Tests | None
    """The same on the logarithm of the times, which are skewed."""
    time_ratios: list[TimeRatio]
    accuracy_friedman: Friedman | None
    cannot_say: list[str]
    """What so few people, or such answers, do not allow to say."""


def analyse(measured: Measured) -> Analysis:
    n, k = len(measured.people), len(measured.aids)
    enough = n >= FEWEST_FOR_TESTS
    pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
    return Analysis(
        measured=measured,
        aids=[_summary(measured, at) for at in range(k)] if n else [],
        cronbachs_alpha=cronbachs_alpha(measured.scores.reshape(n * k, -1)) if n else math.nan,
        ratings=_tests(measured.rating) if enough else None,
        times=_tests(measured.seconds) if enough else None,
        log_times=_tests(np.log(measured.seconds)) if enough else None,
        time_ratios=[_ratio(measured, i, j) for i, j in pairs] if n >= 2 else [],
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


def to_json(analysis: Any) -> Any:
    """JSON's own types; what is undefined becomes null."""
    if is_dataclass(analysis) and not isinstance(analysis, type):
        return to_json(asdict(analysis))
    if isinstance(analysis, dict):
        return {key: to_json(value) for key, value in analysis.items()}
    if isinstance(analysis, list | tuple):
        return [to_json(value) for value in analysis]
    if isinstance(analysis, np.ndarray | np.generic):
        return to_json(analysis.tolist())
    if isinstance(analysis, float):
        return analysis if math.isfinite(analysis) else None
    return analysis


def _summary(measured: Measured, at: int) -> AidSummary:
    accuracy, seconds = measured.accuracy[:, at], measured.seconds[:, at]
    rating, share = measured.rating[:, at], float(accuracy.mean())
    return AidSummary(
        aid=measured.aids[at],
        accuracy=share,
        accuracy_95=share_interval(share, len(measured.people)),
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
        shapiro_wilk_p=shapiro_wilk(x)[1],
        levene_p=levene(x)[1],
        tukey=tukey(x),
        friedman=friedman(x),
        dunn=dunn(x),
        within_person_95=within_person_intervals(x),
    )


def _ratio(measured: Measured, i: int, j: int) -> TimeRatio:
    ratio, low, high = ratio_interval(measured.seconds[:, i], measured.seconds[:, j])
    return TimeRatio(i, j, ratio, (low, high))
