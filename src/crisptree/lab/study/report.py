"""The report as Markdown: the paragraph, the tables, who was left out and by which rule."""

import math

from crisptree.lab.study.analysis import Analysis, Tests
from crisptree.lab.study.words import SIMULATED, in_plain_words, name_of, p_text
from crisptree.show.text_formats import in_markdown


def as_markdown(analysis: Analysis, title: str, figure: str | None = None) -> str:
    """The whole report; `figure` is the file name of the drawing beside it."""
    measured = analysis.measured
    parts = [f"# {in_markdown(title)}"]
    parts += [f"> **{SIMULATED}**"] if measured.simulated else []
    parts += ["## In plain words", in_markdown(in_plain_words(analysis))]
    parts += [f"![Ratings and times]({figure})"] if figure and analysis.aids else []
    if analysis.aids:
        parts += ["## Per policy", _per_aid(analysis), "## Statements", _statements(analysis)]
    for heading, tests, measure in (
        ("Ratings", analysis.ratings, "points"),
        ("Times", analysis.times, "seconds"),
        ("Times, as logarithms", analysis.log_times, "log seconds"),
    ):
        if tests is not None:
            parts += [f"## {heading}", _overall(tests), _pairs(analysis, tests, measure)]
    if analysis.time_ratios:
        parts += ["## How many times as long", _ratios(analysis)]
    parts += ["## Left out", measured.rule, _excluded(analysis), "## How to read this", NOTES]
    return "\n\n".join(parts) + "\n"


NOTES = """\
- Ratings: the mean over all statements, from 1 to 7, reversed statements turned round. Their test \
is a repeated-measures ANOVA, followed by Tukey's test with its error term.
- Times: for all questions about one policy together. Times are skewed, so their test is \
Friedman's, followed by Dunn's on pooled ranks. Dunn's test ignores that the answers come from the \
same people, which makes it cautious; Nemenyi's, beside it, does not.
- Accuracy: the interval counts people, not answers, because the answers of one person hang \
together.
- A p-value above .05 does not show that there is no difference."""


def _per_aid(analysis: Analysis) -> str:
    rows = [
        [
            name_of(each.aid),
            f"{each.accuracy:.0%} [{each.accuracy_95[0]:.0%}, {each.accuracy_95[1]:.0%}]",
            _with_interval(each.rating_mean, each.rating_95, 2),
            _number(each.rating_sd, 2),
            _with_interval(each.seconds_mean, each.seconds_95, 1),
            _number(each.seconds_median, 1),
        ]
        for each in analysis.aids
    ]
    return _table(
        ["policy", "right [95 %]", "rating [95 %]", "sd", "seconds [95 %]", "median"], rows
    )


def _statements(analysis: Analysis) -> str:
    rows = [
        [name, *(_number(each.statements[name], 2) for each in analysis.aids)]
        for name in analysis.measured.statements
    ]
    table = _table(["statement", *(name_of(each.aid) for each in analysis.aids)], rows)
    return f"{table}\n\nCronbach's α over the statements: {_number(analysis.cronbachs_alpha, 2)}"


def _overall(tests: Tests) -> str:
    a, f = tests.anova, tests.friedman
    low, high = a.partial_eta_squared_90
    gg, hf = a.epsilon_greenhouse_geisser, a.epsilon_huynh_feldt
    return "\n".join(
        [
            f"- Repeated-measures ANOVA: F({a.df_aids}, {a.df_error}) = {_number(a.f, 2)}, "
            f"{p_text(a.p)}; partial η² = {_number(a.partial_eta_squared, 2)} "
            f"[90 %: {_number(low, 2)}, {_number(high, 2)}], "
            f"generalised η² = {_number(a.generalised_eta_squared, 2)}",
            f"- Sphericity: Mauchly W = {_number(a.mauchly_w, 2)}, {p_text(a.mauchly_p)}; "
            f"Greenhouse–Geisser ε = {_number(gg, 2)} ({p_text(a.p_greenhouse_geisser)}), "
            f"Huynh–Feldt ε = {_number(hf, 2)} ({p_text(a.p_huynh_feldt)})",
            f"- Normal residuals: Shapiro–Wilk {p_text(tests.shapiro_wilk_p)}; "
            f"equal variances: Levene {p_text(tests.levene_p)}",
            f"- Friedman: Q({f.df}) = {_number(f.q, 2)}, {p_text(f.p)}; "
            f"Kendall's W = {_number(f.kendalls_w, 2)}",
        ]
    )


def _pairs(analysis: Analysis, tests: Tests, measure: str) -> str:
    aids = analysis.measured.aids
    rows = [
        [
            f"{name_of(aids[pair.first])} − {name_of(aids[pair.second])}",
            _with_interval(pair.difference, pair.interval_95, 2),
            _number(pair.t, 2),
            p_text(pair.p),
            _number(pair.cohens_d, 2),
            _number(rank.z, 2),
            p_text(rank.p),
            p_text(rank.p_holm),
            p_text(rank.p_nemenyi),
            _number(rank.rank_biserial, 2),
        ]
        for pair, rank in zip(tests.tukey, tests.dunn, strict=True)
    ]
    header = ["pair", f"{measure} [95 %, all pairs]", "Tukey t", "p", "Cohen's d"]
    header += ["Dunn z", "p", "p (Holm)", "p (Nemenyi)", "rank-biserial r"]
    return _table(header, rows)


def _ratios(analysis: Analysis) -> str:
    aids = analysis.measured.aids
    rows = [
        [
            f"{name_of(aids[each.first])} / {name_of(aids[each.second])}",
            _with_interval(each.ratio, each.interval_95, 2),
        ]
        for each in analysis.time_ratios
    ]
    return _table(["pair", "ratio of times [95 %]"], rows)


def _excluded(analysis: Analysis) -> str:
    excluded = analysis.measured.excluded
    if not excluded:
        return "Nobody was left out."
    return _table(
        ["participant", "why"], [[str(each.participant), each.reason] for each in excluded]
    )


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(
        f"| {' | '.join(cell if line[0] == '---' else in_markdown(cell) for cell in line)} |"
        for line in lines
    )


def _with_interval(value: float, interval: tuple[float, float], digits: int) -> str:
    low, high = interval
    if math.isnan(low):
        return _number(value, digits)
    return f"{_number(value, digits)} [{_number(low, digits)}, {_number(high, digits)}]"


def _number(value: float, digits: int) -> str:
    return "undefined" if math.isnan(value) else f"{value:.{digits}f}".replace("-", "−")
