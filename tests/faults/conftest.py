"""Counts the cases of each kind, and shows how many were tried and how many failed at the end.

A module's KIND says what its cases are. A test is one case, or tells the fixture `cases` how many
it tried. With `--write-table`, which `make faults` says, the table goes to docs/reliability.md.
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "reliability.md"
BEGIN, END = "<!-- table of make faults -->\n", "<!-- its end -->\n"
sys.path[:0] = [str(HERE)] + [
    str(HERE.parent / name) for name in ("pipeline", "lab/experiments", "lab/study")
]

Cases = Callable[[int, Sequence[object]], None]
"""Called with the number of cases and those that failed; a failed one fails the test."""


@pytest.fixture(autouse=True)
def kind_of_case(request: pytest.FixtureRequest, record_property) -> None:
    record_property("kind", request.module.KIND)


@pytest.fixture
def cases(record_property) -> Cases:
    def count(tried: int, failures: Sequence[object]) -> None:
        record_property("tried", tried)
        record_property("failed", len(failures))
        assert not failures, "\n".join(map(str, failures[:20]))

    return count


def pytest_addoption(parser) -> None:
    parser.addoption("--write-table", action="store_true", help=f"Write the table to {PAGE.name}.")


def pytest_terminal_summary(terminalreporter, config) -> None:
    table: dict[str, list[int]] = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            said = dict(getattr(report, "user_properties", ()))
            if "kind" not in said or not (report.when == "call" or report.failed):
                continue
            row = table.setdefault(said["kind"], [0, 0])
            row[0] += said.get("tried", 1)
            row[1] += max(said.get("failed", 0), int(report.failed))
    if not table:
        return
    tried, failed = (sum(row[at] for row in table.values()) for at in (0, 1))
    rows = [*sorted(table.items()), ("**together**", [tried, failed])]
    lines = ["| what | tried | failed |", "|---|---|---|"]
    lines += [f"| {kind} | {tried:,} | {failed:,} |" for kind, (tried, failed) in rows]
    terminalreporter.section("fault cases")
    for line in lines:
        terminalreporter.write_line(line)
    is_whole = len(table) == len(list(HERE.glob("test_*.py")))
    if config.getoption("--write-table") and is_whole:
        before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
        after = rest.split(END)[1]
        text = before + BEGIN + "\n".join(lines) + "\n" + END + after
        PAGE.write_text(text, encoding="utf-8")
