"""The site builds without a warning, has every page, and loads nothing from elsewhere."""

import re
from pathlib import Path

import pytest
from pages import PAGES, ROOT, blocks

from crisptree.cli import COMMANDS

pytest.importorskip("mkdocs")
from command_help import help_of, subcommands
from gallery import POLICIES, exhibits
from inline_options import on_page_content
from mkdocs.commands.build import build
from mkdocs.config import load_config


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_MKDOCS_2_WARNING", "1")
        config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(out), strict=True)
        config.plugins.on_startup(command="build", dirty=False)
        build(config)
        config.plugins.on_shutdown()
    return out


def test_every_page_is_there(site):
    pages = {page.relative_to(ROOT / "docs").with_suffix(".html") for page in PAGES[1:]}
    built = {page.relative_to(site) for page in site.rglob("*.html")}
    assert pages <= built


def test_every_command_has_its_page_with_all_options(site):
    for name in COMMANDS:
        page = (site / "commands" / f"{name}.html").read_text()
        assert f"usage: crisptree {name}" in page


def test_every_command_is_documented():
    every = "\n".join(block.code for page in PAGES for block in blocks(page) if block.is_shell)
    assert [name for name in COMMANDS if f"crisptree {name}" not in every] == []


def test_commands_with_subcommands_show_each():
    assert "serve" in subcommands(help_of("study"))
    assert subcommands(help_of("train")) == []


def test_the_gallery_shows_every_policy(site):
    assert {each.name for each in exhibits()} == {file.stem for file in POLICIES.glob("*.json")}
    text = (site / "gallery.html").read_text()
    for each in exhibits():
        assert each.score.partition(" (")[0] in text and each.command in text
        for suffix in (".html", ".svg"):
            assert (site / "gallery" / f"{each.name}{suffix}").stat().st_size > 1_000


def test_options_in_sentences_stay_in_one_piece(site):
    page = (site / "faq.html").read_text()
    assert '<code><span class="option">--leaves</span></code>' in page
    assert on_page_content("<pre><span></span><code>a --b</code></pre>").count("span") == 2


def test_nothing_is_loaded_from_elsewhere(site):
    for page in site.rglob("*.html"):
        text = page.read_text()
        loaded = re.findall(r"<(?:script|img|iframe)[^>]*\ssrc=[\"']([^\"']*)", text)
        loaded += re.findall(r"<link[^>]*\srel=[\"']?stylesheet[^>]*\shref=[\"']([^\"']*)", text)
        assert [each for each in loaded if re.match(r"(?:https?:)?//", each)] == []
    for style in site.rglob("*.css"):
        assert not re.search(r"@import|url\([\"']?(?:https?:)?//", style.read_text())


def test_skipped_blocks_are_few_and_say_why():
    skipped = [block for page in PAGES for block in blocks(page) if block.skipped]
    assert all(re.fullmatch(r"test: skip, .{10,}", block.note) for block in skipped)
    assert len(skipped) <= 12
