"""Every page of a command ends with what `--help` prints, as it is when the site is built."""

import contextlib
import importlib
import io
import os
import re
from typing import Any

PAGE = re.compile(r"commands/(?P<name>[a-z-]+)\.md")
WIDTH = 78


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """MkDocs calls this for every page."""
    found = PAGE.fullmatch(page.file.src_uri)
    if found is None or found["name"] == "index":
        return markdown
    return f"{markdown}\n\n## All options\n\n{blocks(found['name'])}\n"


def blocks(name: str) -> str:
    """The help of a command, and of each of its subcommands."""
    first = help_of(name)
    parts = [as_block(first)]
    for subcommand in subcommands(first):
        parts += [f"### {name} {subcommand}", as_block(help_of(name, subcommand))]
    return "\n\n".join(parts)


def as_block(text: str) -> str:
    lines = "\n".join(line.rstrip() for line in text.rstrip().splitlines())
    return f"```text\n{lines}\n```"


def subcommands(text: str) -> list[str]:
    """The names that the first paragraph lists in braces."""
    found = re.search(r"\{([a-z,-]+)\}", text.partition("\n\n")[0])
    return found[1].split(",") if found else []


def help_of(*words: str) -> str:
    """What `crisptree WORDS --help` prints."""
    cli = importlib.import_module("crisptree.cli")
    printed = io.StringIO()
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = str(WIDTH)
    try:
        with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
            cli.main([*words, "--help"])
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before
    text = re.sub(r"\x1b\[[0-9;]*m", "", printed.getvalue())
    if not text.startswith("usage:"):
        raise RuntimeError(f"crisptree {' '.join(words)} --help printed no usage")
    return text
