"""The site builds without a warning, has every page, and loads nothing from elsewhere."""

import re
from pathlib import Path

import pytest
from pages import PAGES, ROOT, blocks

from crisptree.cli import COMMANDS

mkdocs_build = pytest.importorskip("mkdocs.commands.build").build
from mkdocs.config import load_config  # noqa: E402


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("site")
    mkdocs_build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(out), strict=True))
    return out


def test_every_page_is_there(site):
    pages = {page.relative_to(ROOT / "docs").with_suffix(".html") for page in PAGES[1:]}
    built = {page.relative_to(site) for page in site.rglob("*.html")}
    assert pages <= built


def test_every_command_is_documented():
    every = "\n".join(block.code for page in PAGES for block in blocks(page) if block.is_shell)
    assert [name for name in COMMANDS if f"crisptree {name}" not in every] == []


def test_nothing_is_loaded_from_elsewhere(site):
    for page in site.rglob("*.html"):
        text = page.read_text()
        loaded = re.findall(r"<(?:script|img|iframe)[^>]*\ssrc=[\"']([^\"']*)", text)
        loaded += re.findall(r"<link[^>]*\shref=[\"']([^\"']*)", text)
        assert loaded
        assert [each for each in loaded if re.match(r"(?:https?:)?//", each)] == []
    for style in site.rglob("*.css"):
        assert not re.search(r"@import|url\([\"']?(?:https?:)?//", style.read_text())


def test_skipped_blocks_are_few_and_say_why():
    skipped = [block for page in PAGES for block in blocks(page) if block.skipped]
    assert all(re.fullmatch(r"test: skip, .{10,}", block.note) for block in skipped)
    assert len(skipped) <= 8
