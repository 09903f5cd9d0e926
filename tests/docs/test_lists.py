"""Lists that pages give are those of the sources."""

import dataclasses
import re

from pages import ROOT

from crisptree.lab.study.answer_table import Row
from crisptree.lab.zoo.entry import load_entries


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def test_the_columns_of_the_answers():
    table = page("study.md").partition("The exported table")[2].partition("## ")[0]
    named = {
        word
        for line in table.splitlines()
        for word in re.findall(r"`(\w+)`", line)
        if line.startswith("| `")
    }
    columns = {each.name for each in dataclasses.fields(Row)}
    kinds = {"practice", "item", "rating", "question", "comment"}
    assert named - kinds == columns - kinds


def test_how_many_environments_the_zoo_has():
    entries = load_entries()
    words = {8: "eight", 9: "nine", 10: "ten"}
    suites = words[len({each.suite for each in entries})]
    assert f"{len(entries)} environments of {suites} suites" in page("commands/zoo.md")
