"""A policy as a page: one HTML file that needs no network and no server.

The tree or list drawn large, with zoom, folding and search; sliders for the observation with its
path lit at once; recorded episodes to scrub through. Its parts lie in `page/`.
"""

import base64
import hashlib
import re
from functools import cache
from html import escape
from importlib.resources import files

from crisptree.base.errors import CrisptreeError
from crisptree.base.text import printable
from crisptree.crisp import CrispTree
from crisptree.show.page_data import in_html, page_data
from crisptree.show.replay import Replay, fitted
from crisptree.show.text import as_text
from crisptree.show.words import Words

MOST_LEAVES = 2_000
SCRIPTS = ("model", "layout", "drawing", "detail", "observation", "film", "replay", "main")
NO_REPLAY = Replay(note="No episodes were recorded for this page.")


def as_html(tree: CrispTree, *, decimals: int | None = None, replay: Replay = NO_REPLAY) -> str:
    """The page as the text of an HTML file."""
    refuse_too_large(tree)
    script = '"use strict";\n' + "\n".join(_part(f"{name}.js") for name in SCRIPTS)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    parts = {
        # Nothing may be fetched, and no script may run but the page's own.
        "policy": f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'",
        "title": escape(printable(tree.env_id or "Policy")),
        "about": escape(_about(tree)),
        "style": _part("style.css"),
        "text": escape(as_text(tree, decimals=decimals)),
        "data": in_html(page_data(tree, Words(tree, decimals), fitted(replay))),
        "script": script,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _part("page.html"))


def refuse_too_large(tree: CrispTree) -> None:
    """Refuse a tree that no page could draw."""
    if tree.n_leaves > MOST_LEAVES:
        raise CrisptreeError(
            f"a page draws trees of at most {MOST_LEAVES:,} leaves; this one has "
            f"{tree.n_leaves:,}; --as text writes it"
        )


def _about(tree: CrispTree) -> str:
    leaves = f"{tree.n_leaves} {'leaf' if tree.n_leaves == 1 else 'leaves'}"
    if tree.is_rule_list and tree.n_leaves > 1:
        return f"a list of {tree.n_leaves - 1} rules and an otherwise"
    return f"a decision tree of {leaves}, depth {tree.depth}"


@cache
def _part(name: str) -> str:
    return (files("crisptree.show") / "page" / name).read_text(encoding="utf-8")
