"""The reference of a configuration is written from its dataclasses, whatever they hold."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import pytest
from config_reference import on_page_markdown, reference, sections

HERE = Path(__file__).parents[2]


@dataclass(frozen=True)
class Learner:
    """How it learns."""

    gamma: float = 0.99
    """The discount; `1` looks
    as far as the episode goes."""
    optimizer: Literal["adam", "rmsprop"] = "adam"
    """Who takes the steps: a | b."""
    schedule: tuple[float, float] | None = None
    undocumented: int = 3


@dataclass(frozen=True)
class Basis:
    seed: int = 0
    """All randomness follows from it."""


@dataclass(frozen=True)
class Whole(Basis):
    env: str = field(kw_only=True)
    """Which environment."""
    learner: Learner = field(default_factory=Learner)
    teacher: Annotated[Learner | None, "words"] = None
    leaf_counts: tuple[int, ...] = (2, 4)
    """Sizes."""
    out: Path | None = None
    hidden: Basis = field(default_factory=Basis, metadata={"option": False})


def test_sections_follow_the_nesting():
    assert [section.name for section in sections(Whole)] == ["", "learner", "teacher", "hidden"]
    first, learner, *_ = sections(Whole)
    assert first.text == "" and learner.text == "How it learns."


def test_every_field_has_its_row():
    first, learner, *_ = sections(Whole)
    rows = {entry.name: entry for entry in (*first.entries, *learner.entries)}
    assert rows["seed"].text == "All randomness follows from it."
    assert (rows["env"].default, rows["env"].kind) == ("required", "str")
    assert (rows["leaf_counts"].default, rows["leaf_counts"].kind) == ("default `2 4`", "int …")
    assert (rows["out"].default, rows["out"].kind) == ("left open", "Path")
    assert rows["learner.gamma"].default == "default `0.99`"
    assert rows["learner.gamma"].text == "The discount; `1` looks as far as the episode goes."
    assert rows["learner.optimizer"].kind == "`adam`, `rmsprop`"
    assert rows["learner.schedule"].kind == "tuple of float, float"
    assert rows["learner.undocumented"].text == ""


def test_markdown_keeps_bars_inside_their_cell():
    text = reference(__name__, "Whole")
    assert r"`--learner.optimizer` | Who takes the steps: a \| b.<br>" in text
    assert "<small>`adam`, `rmsprop`; default `adam`</small> |" in text
    assert "## learner\n\nHow it learns.\n\n| option |" in text
    assert "`--leaf-counts` |" in text


def test_the_index_names_every_field_once():
    *_, index = reference(__name__, "Whole").partition("## Index")
    assert index.count("](#") == len(set(index.split(" · "))) == 13
    assert "[`learner.gamma`](#learner.gamma)" in index
    assert '<a id="learner.gamma"></a>`--learner.gamma`' in reference(__name__, "Whole")


def test_what_the_command_line_does_not_offer_is_no_option():
    assert "`hidden.seed` |" in reference(__name__, "Whole")


def test_a_page_gets_the_tables_in_place_of_its_marker():
    page = f"before\n\n<!-- fields of {__name__}:Basis -->\n\nafter"
    assert on_page_markdown(page).startswith("before\n\n| option |")
    assert on_page_markdown("no marker") == "no marker"


def test_what_is_not_there_stops_the_build():
    with pytest.raises(AttributeError):
        on_page_markdown("<!-- fields of crisptree.cli:Nothing -->")


def test_the_page_documents_every_field():
    page = (HERE / "docs" / "reference" / "config.md").read_text(encoding="utf-8")
    written = on_page_markdown(page)
    assert "<!-- fields" in page and "<!-- fields" not in written
    rows = [line for line in written.splitlines() if "</a>`--" in line]
    assert len(rows) > 10
    assert [row for row in rows if "| <br>" in row] == []
