"""A tree in the languages of two drawing programs: Graphviz and Mermaid."""

import re

from crisptree.crisp import CrispTree
from crisptree.show.action_styles import ActionStyles
from crisptree.show.palette import Style
from crisptree.show.wording import Wording


def as_dot(tree: CrispTree, *, decimals: int | None = None) -> str:
    """A Graphviz digraph with one statement per node and per branch; the TRUE side comes first."""
    wording = Wording(tree, decimals)
    styles = ActionStyles(tree, wording)
    lines = ["digraph policy {", '  node [fontname="Helvetica", shape=box, style="rounded,filled"]']
    lines += ['  edge [fontname="Helvetica", fontsize=11]']
    for node, (feature, _, if_true, if_false) in enumerate(tree.nodes):
        if feature < 0:
            fill, text, border = styles.of(node)
            dashed = ",dashed" if border else ""
            lines.append(
                f"  n{node} [label={_in_dot(wording.actions.of(node))}, shape=ellipse, "
                f'style="filled{dashed}", fillcolor="{fill}", fontcolor="{text}"]'
            )
            continue
        lines.append(f"  n{node} [label={_in_dot(wording.question(node))}, fillcolor=white]")
        lines.append(f'  n{node} -> n{if_true} [label="yes"]')
        lines.append(f'  n{node} -> n{if_false} [label="no"]')
    return "\n".join([*lines, "}"]) + "\n"


def as_mermaid(tree: CrispTree, *, decimals: int | None = None) -> str:
    """A Mermaid flowchart with one line per node and per branch; the TRUE side comes first."""
    wording = Wording(tree, decimals)
    styles = ActionStyles(tree, wording)
    lines = ["flowchart TD"]
    classes: dict[Style, int] = {}
    for node, (feature, _, if_true, if_false) in enumerate(tree.nodes):
        if feature < 0:
            number = classes.setdefault(styles.of(node), len(classes))
            action = _in_mermaid(wording.actions.of(node))
            lines.append(f'    n{node}(["{action}"]):::action{number}')
            continue
        lines.append(f'    n{node}["{_in_mermaid(wording.question(node))}"]')
        lines.append(f"    n{node} -- yes --> n{if_true}")
        lines.append(f"    n{node} -- no --> n{if_false}")
    for style, number in classes.items():
        fill, text, border = style
        dashes = f",stroke-dasharray:{border}" if border else ""
        lines.append(f"    classDef action{number} fill:{fill},color:{text}{dashes}")
    return "\n".join(lines) + "\n"


def _in_dot(text: str) -> str:
    """A string that Graphviz shows unchanged: neither its escapes nor its entities apply."""
    escaped = text.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _in_mermaid(text: str) -> str:
    """Characters that mean something to Mermaid, HTML or Markdown, as Mermaid's number codes."""
    return re.sub(r"[\"#&<;`\\*_]", lambda match: f"#{ord(match[0])};", text)
