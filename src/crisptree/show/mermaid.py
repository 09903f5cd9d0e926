"""A tree as a Mermaid flowchart, which Markdown pages on many sites draw."""

import re

from crisptree.crisp import CrispTree
from crisptree.show.canvas import colour_of, ink_on
from crisptree.show.words import Words


def as_mermaid(tree: CrispTree, *, decimals: int | None = None) -> str:
    """A flowchart with one line a node and a branch; the TRUE side comes first."""
    words = Words(tree, decimals)
    lines = ["flowchart TD"]
    actions: set[int] = set()
    for node, (feature, threshold, if_true, if_false) in enumerate(tree.nodes):
        if feature < 0:
            action = int(tree.action[node])
            actions.add(action)
            lines.append(f'    n{node}(["{escaped(words.actions[action])}"]):::action{action}')
            continue
        lines.append(f'    n{node}["{escaped(words.comparison(feature, threshold))}"]')
        lines.append(f"    n{node} -- yes --> n{if_true}")
        lines.append(f"    n{node} -- no --> n{if_false}")
    for action in sorted(actions):
        fill = colour_of(action)
        lines.append(f"    classDef action{action} fill:{fill},color:{ink_on(fill)}")
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """Characters that mean something to Mermaid, HTML or Markdown, as Mermaid's number codes."""
    return re.sub(r"[\"#&<;`\\*_]", lambda match: f"#{ord(match[0])};", text)
