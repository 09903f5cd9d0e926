"""Options within sentences stay in one piece: a browser would end a line after `--`."""

import re
from typing import Any

_INLINE = re.compile(r"(?<!</span>)<code>(?P<text>[^<]*--[^<]*)</code>")
"""Code of a sentence; a block has a `<span>` before it, or markup in it."""
_OPTION = re.compile(r"(?<![\w-])--[\w.-]+")


def on_page_content(html: str, **_: Any) -> str:
    """MkDocs calls this for every page."""
    return _INLINE.sub(lambda found: f"<code>{kept(found['text'])}</code>", html)


def kept(text: str) -> str:
    return _OPTION.sub(lambda found: f'<span class="option">{found[0]}</span>', text)
