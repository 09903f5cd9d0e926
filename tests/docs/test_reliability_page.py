"""The table of the fault suite has a row for each kind of case, and no failures."""

import re

from pages import ROOT

PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
TABLE = PAGE.split("<!-- table of make faults -->")[1].split("<!-- its end -->")[0]
ROWS = {
    what: row for what, *row in re.findall(r"^\| (.+) \| ([\d,]+) \| ([\d,]+) \|$", TABLE, re.M)
}
TOGETHER = "**together**"
LEAST = 3000


def number(text: str) -> int:
    return int(text.replace(",", ""))


def test_there_is_a_row_for_each_kind():
    files = (ROOT / "tests" / "faults").glob("test_*.py")
    kinds = [re.search(r'^KIND = "(.+)"$', path.read_text(), re.M) for path in files]
    assert {kind[1] for kind in kinds if kind} == {*ROWS} - {TOGETHER}
    assert all(kinds)


def test_enough_was_tried_and_nothing_failed():
    tried = [number(tried) for what, (tried, _) in ROWS.items() if what != TOGETHER]
    assert sum(tried) == number(ROWS[TOGETHER][0]) >= LEAST
    assert {failed for _, failed in ROWS.values()} == {"0"}
