"""A policy as a page: one HTML file that needs no network and no server.

The tree or list drawn large, with zoom, folding and search; sliders for the observation, its path
lit at once; recorded episodes to step through; the rules. The page's parts lie in `page/`.
"""

import base64
import hashlib
import re
from functools import cache
from html import escape
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.show.headline import score_of, size_of, title_of
from crisptree.show.page_data import in_html, page_data
from crisptree.show.recording import Recording, fitted
from crisptree.show.text_formats import as_text
from crisptree.show.wording import Wording, check_tree

MOST_LEAVES = 2_000
SCRIPTS = (
    "model",
    "layout",
    "drawing",
    "viewport",
    "detail",
    "observation",
    "video",
    "replay",
    "main",
)
NO_RECORDING = Recording(note="No episodes were recorded for this page.")


def as_html(
    tree: CrispTree,
    *,
    decimals: int | None = None,
    recording: Recording = NO_RECORDING,
    states: NDArray | None = None,
) -> str:
    """The page as the text of an HTML file.

    `states` `(states, features)` are counted at each node; without, those of the recording are.
    """
    check_tree(tree)
    refuse_too_large(tree)
    if states is None:
        none = np.empty((0, tree.n_features), np.float32)
        states = recording.states if recording.episodes else none
    script = '"use strict";\n' + "\n".join(_part(f"{name}.js") for name in SCRIPTS)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    wording = Wording(tree, decimals, minus="−")
    parts = {
        # Nothing may be fetched, and no script may run but the page's own.
        "policy": f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'",
        "title": escape(title_of(tree)),
        "size": escape(size_of(tree)),
        "score": escape(score_of(tree.training)),
        "style": _part("style.css"),
        "text": escape(as_text(tree, decimals=decimals)),
        "data": in_html(page_data(tree, wording, fitted(recording), states)),
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


@cache
def _part(name: str) -> str:
    return (files("crisptree.show") / "page" / name).read_text(encoding="utf-8")
