"""A figure that several pages name stands once in docs/figures.json, and is what was measured.

In a page the figure is followed by a comment with its name: `850,000<!-- =learning-speed -->`.
"""

import json
import re

import pytest
from pages import PAGES, ROOT
from results_table import PAGES as RESULTS
from results_table import written

FIGURES = json.loads((ROOT / "docs" / "figures.json").read_text(encoding="utf-8"))["named"]
NAMED = [
    (page.relative_to(ROOT), text[: mark.start()], mark[1])
    for page in PAGES
    for text in [page.read_text(encoding="utf-8")]
    for mark in re.finditer(r"<!-- =([\w-]+) -->", text)
]


def benchmark(entry: str, field: str) -> float:
    records = json.loads((ROOT / "benchmarks" / "results.json").read_text())
    (record,) = (each for each in records if each["name"] == entry)
    return record[field]


def digits(value: float, like: str) -> str:
    """A number rounded to as many digits as a page gives, with its commas."""
    decimals = len(like.partition(".")[2])
    zeros = 0 if decimals else len(like) - len(like.rstrip("0,")) - like.count(",")
    return f"{round(value, decimals or -zeros):,.{decimals}f}"


@pytest.mark.parametrize(("page", "before", "name"), NAMED)
def test_pages_give_the_figure(page, before, name):
    assert before.rstrip("*").endswith(FIGURES[name]["value"])


@pytest.mark.parametrize("name", [name for name, each in FIGURES.items() if len(each["value"]) > 4])
def test_no_page_gives_the_figure_without_its_name(name):
    """Where the name is missing, the page would keep the old figure when the file changes."""
    value, marked = re.escape(FIGURES[name]["value"]), re.escape(f"<!-- ={name} -->")
    unmarked = re.compile(rf"(?<![\d,.]){value}(?!\**{marked})(?![\d])")
    pages = {page.name for page in PAGES if unmarked.search(page.read_text(encoding="utf-8"))}
    assert pages - {"CHANGELOG.md"} == set()


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_named_and_has_a_source(name):
    assert name in {each for _, _, each in NAMED}
    assert (ROOT / FIGURES[name]["source"]).exists()


@pytest.mark.parametrize("name", [name for name, each in FIGURES.items() if "entry" in each])
def test_the_figure_was_measured(name):
    figure = FIGURES[name]
    assert digits(benchmark(figure["entry"], figure["field"]), figure["value"]) == figure["value"]


def test_the_speed_on_a_gpu_was_measured():
    records = json.loads((ROOT / "benchmarks" / "gpu.json").read_text())
    speeds = [each["steps_per_second"] for each in records if each["domain"] == "cartpole"]
    assert digits(max(speeds) / 1e6, "436") == FIGURES["gpu-speed"]["value"]


def test_the_policies_table_has_the_score():
    table = (ROOT / "policies" / "README.md").read_text(encoding="utf-8")
    (row,) = (line for line in table.splitlines() if "`lunarlander-tree-16.json` |" in line)
    assert FIGURES["lunarlander-16"]["value"] in row


@pytest.mark.parametrize("page", RESULTS, ids=lambda page: page.name)
def test_the_table_of_results_is_that_of_the_file(page):
    """`python docs/hooks/results_table.py` writes it."""
    text = page.read_text(encoding="utf-8")
    assert text.count("| the paper's crisp trees |") == 1 and written(text) == text


def test_every_result_is_shown():
    shown = "".join(page.read_text(encoding="utf-8") for page in RESULTS)
    for row in json.loads((ROOT / "docs" / "figures.json").read_text(encoding="utf-8"))["results"]:
        assert row["crisptree"] in shown


def test_rounding_as_pages_do():
    assert digits(850_584, "850,000") == "850,000"
    assert (digits(269.412, "269"), digits(3.84, "3.8")) == ("269", "3.8")
