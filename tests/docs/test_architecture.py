"""The way of a command through the code, as ARCHITECTURE.md has it."""

import re

from pages import ROOT

MOST_FILES = 30


def named_files(text: str) -> list[str]:
    """`a/b` and `a/{b,c}` in backticks, one by one."""
    found = []
    for name in re.findall(r"`([\w/{},]+)`", text):
        before, brace, rest = name.partition("{")
        found += [before + each for each in rest.rstrip("}").split(",")] if brace else [name]
    return found


def test_the_way_of_a_training_is_as_short_as_it_says():
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    section = page.partition("`crisptree train LunarLander-v3`, ")[2]
    way = section.partition("What these call in turn")[0]
    said = int(way.split()[0])
    files = named_files(way)
    missing = [name for name in files if not (ROOT / "src/crisptree" / f"{name}.py").exists()]
    assert not missing
    assert len(files) == len(set(files)) == said <= MOST_FILES
