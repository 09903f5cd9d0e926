"""The extras that docs/install.md lists are those of pyproject.toml."""

import re
import tomllib

from pages import PAGES, ROOT

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


def test_every_extra_is_listed():
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert sorted(listed) == sorted(EXTRAS)


def test_every_extra_that_pages_name_exists():
    named = set()
    for page in PAGES:
        for group in re.findall(r"(?:crisptree|\.)\[([a-z0-9,]+)\]", page.read_text("utf-8")):
            named |= set(group.split(","))
    assert named and named <= set(EXTRAS)


def test_all_is_everything_but_what_brings_pytorch():
    (everything,) = EXTRAS["all"]
    names = set(everything.removeprefix("crisptree[").removesuffix("]").split(","))
    # gymnax wants an older Gymnasium than the one that is tested.
    assert names == set(EXTRAS) - {"all", "bench", "dev", "docs", "gymnax", "sb3"}
