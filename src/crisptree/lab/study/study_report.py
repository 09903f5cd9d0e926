"""The report of a study: what it says, as sections that Markdown and the web page both show."""

import json
import math
from dataclasses import dataclass
from pathlib import Path

from crisptree.base.errors import CrisptreeError
from crisptree.base.files import write_atomically
from crisptree.lab.study.study_results import StudyResults, Tests, to_json
from crisptree.lab.study.summary_text import SIMULATED, in_plain_words, name_of, p_text
from crisptree.show.text_formats import in_markdown

NOTES = (
    "Ratings: the mean over all statements, from 1 to 7, reversed statements turned round. Their "
    "test is a repeated-measures ANOVA, followed by Tukey's test with its error term.",
    "Times: for all questions about one policy together. Times are skewed, so their test is "
    "Friedman's, followed by Dunn's on pooled ranks. Dunn's test ignores that the answers come "
    "from the same people, which makes it cautious; Nemenyi's does not.",
    "Accuracy: the interval counts people, not answers, because the answers of one person hang "
    "together.",
    "A p-value above .05 does not show that there is no difference.",
)


@dataclass(frozen=True)
class Table:
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it: paragraphs, a list and a table, in this order."""

    heading: str
    paragraphs: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    table: Table | None = None


def sections(results: StudyResults) -> list[Section]:
    """The whole report but its title and figure."""
    measured = results.measured
    found = [Section("In plain words", (in_plain_words(results),))]
    if results.policies:
        alpha = f"Cronbach's α over the statements: {_number(results.cronbachs_alpha, 2)}"
        found += [
            Section("Per policy", table=_per_policy(results)),
            Section("Statements", (alpha,), table=_statements(results)),
        ]
    for heading, tests, unit in (
        ("Ratings", results.ratings, "points"),
        ("Times", results.times, "seconds"),
        ("Times, as logarithms", results.log_times, "log seconds"),
    ):
        if tests is not None:
            found.append(
                Section(heading, points=_overall(tests), table=_pairs(results, tests, unit))
            )
    if results.time_ratios:
        found.append(Section("How many times as long", table=_ratios(results)))
    nobody = () if measured.excluded else ("Nobody was left out.",)
    rows = tuple((str(each.participant), each.reason) for each in measured.excluded)
    left_out = Table(("participant", "why"), rows) if rows else None
    found.append(Section("Left out", (measured.rule, *nobody), table=left_out))
    return [*found, Section("How to read this", points=NOTES)]


def as_markdown(results: StudyResults, title: str, figure: str | None = None) -> str:
    """The report as Markdown; `figure` is the file name of the drawing in the same directory."""
    parts = [f"# {in_markdown(title)}"]
    parts += [f"> **{SIMULATED}**"] if results.measured.simulated else []
    for at, section in enumerate(sections(results)):
        parts += [f"## {section.heading}", *map(in_markdown, section.paragraphs)]
        parts += ["\n".join(f"- {point}" for point in section.points)] if section.points else []
        if section.table:
            lines = (section.table.header, *section.table.rows)
            cells = [" | ".join(map(in_markdown, line)) for line in lines]
            cells.insert(1, " | ".join("---" for _ in section.table.header))
            parts.append("\n".join(f"| {line} |" for line in cells))
        if at == 0 and figure and results.policies:
            parts.append(f"![Ratings and times]({figure})")
    return "\n\n".join(parts) + "\n"


def write_report(
    results: StudyResults, title: str, directory: Path, answers: str | None = None
) -> None:
    """Write report.md, report.json, the figure as SVG and PNG, and the answers if there are any."""
    from crisptree.lab.study.study_figure import draw

    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CrisptreeError(f"cannot write to {directory}: {error.strerror or error}") from None
    files: dict[str, str | bytes] = {
        "report.md": as_markdown(results, title, "figure.svg"),
        "report.json": json.dumps(to_json(results), indent=1, allow_nan=False) + "\n",
    }
    if results.policies:
        files |= {f"figure.{kind}": draw(results, kind) for kind in ("svg", "png")}
    if answers is not None:
        files["answers.csv"] = answers
    for name, content in files.items():
        write_atomically(directory / name, content)


def _per_policy(results: StudyResults) -> Table:
    header = ["policy", "right [95 %]", "rating [95 %]", "sd", "seconds [95 %]", "median"]
    rows = [
        [
            name_of(each.policy),
            f"{each.accuracy:.0%} [{each.accuracy_95[0]:.0%}, {each.accuracy_95[1]:.0%}]",
            _with_interval(each.rating_mean, each.rating_95, 2),
            _number(each.rating_sd, 2),
            _with_interval(each.seconds_mean, each.seconds_95, 1),
            _number(each.seconds_median, 1),
        ]
        for each in results.policies
    ]
    if not all(math.isnan(each.error_mean) for each in results.policies):
        header.append("off by, on average")
        rows = [
            [*row, f"{each.error_mean:.3g}"]
            for row, each in zip(rows, results.policies, strict=True)
        ]
    return Table(tuple(header), tuple(map(tuple, rows)))


def _statements(results: StudyResults) -> Table:
    rows = (
        (name, *(_number(each.statements[name], 2) for each in results.policies))
        for name in results.measured.statements
    )
    return Table(("statement", *(name_of(each.policy) for each in results.policies)), tuple(rows))


def _overall(tests: Tests) -> tuple[str, ...]:
    a, f = tests.anova, tests.friedman
    low, high = a.partial_eta_squared_90
    gg, hf = a.epsilon_greenhouse_geisser, a.epsilon_huynh_feldt
    return (
        f"Repeated-measures ANOVA: F({a.df_conditions}, {a.df_error}) = {_number(a.f, 2)}, "
        f"{p_text(a.p)}; partial η² = {_number(a.partial_eta_squared, 2)} "
        f"[90 %: {_number(low, 2)}, {_number(high, 2)}], "
        f"generalised η² = {_number(a.generalised_eta_squared, 2)}",
        f"Sphericity: Mauchly W = {_number(a.mauchly_w, 2)}, {p_text(a.mauchly_p)}; "
        f"Greenhouse–Geisser ε = {_number(gg, 2)} ({p_text(a.p_greenhouse_geisser)}), "
        f"Huynh–Feldt ε = {_number(hf, 2)} ({p_text(a.p_huynh_feldt)})",
        f"Normal residuals: Shapiro–Wilk {p_text(tests.shapiro_wilk_p)}; "
        f"equal variances: Levene {p_text(tests.levene_p)}",
        f"Friedman: Q({f.df}) = {_number(f.q, 2)}, {p_text(f.p)}; "
        f"Kendall's W = {_number(f.kendalls_w, 2)}",
    )


def _pairs(results: StudyResults, tests: Tests, unit: str) -> Table:
    names = list(map(name_of, results.measured.policies))
    rows = (
        (
            f"{names[pair.first]} − {names[pair.second]}",
            _with_interval(pair.difference, pair.interval_95, 2),
            _number(pair.t, 2),
            p_text(pair.p),
            _number(pair.cohens_d, 2),
            _number(rank.z, 2),
            p_text(rank.p),
            p_text(rank.p_holm),
            p_text(rank.p_nemenyi),
            _number(rank.rank_biserial, 2),
        )
        for pair, rank in zip(tests.tukey, tests.dunn, strict=True)
    )
    header = ("pair", f"{unit} [95 %, all pairs]", "Tukey t", "p", "Cohen's d")
    header += ("Dunn z", "p", "p (Holm)", "p (Nemenyi)", "rank-biserial r")
    return Table(header, tuple(rows))


def _ratios(results: StudyResults) -> Table:
    names = list(map(name_of, results.measured.policies))
    rows = (
        (
            f"{names[each.first]} / {names[each.second]}",
            _with_interval(each.ratio, each.interval_95, 2),
        )
        for each in results.time_ratios
    )
    return Table(("pair", "ratio of times [95 %]"), tuple(rows))


def _with_interval(value: float, interval: tuple[float, float], digits: int) -> str:
    low, high = interval
    if math.isnan(low):
        return _number(value, digits)
    return f"{_number(value, digits)} [{_number(low, digits)}, {_number(high, digits)}]"


def _number(value: float, digits: int) -> str:
    return "undefined" if math.isnan(value) else f"{value:.{digits}f}".replace("-", "−")
