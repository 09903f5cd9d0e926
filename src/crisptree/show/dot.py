"""A tree in Graphviz's language, for those who want its layouts."""

from crisptree.crisp import CrispTree
from crisptree.show.canvas import colour_of, ink_on
from crisptree.show.words import Words


def as_dot(tree: CrispTree, *, decimals: int | None = None) -> str:
    """A digraph with one statement a node and a branch; the TRUE side comes first."""
    words = Words(tree, decimals)
    lines = ["digraph policy {", '  node [fontname="Helvetica", shape=box, style="rounded,filled"]']
    lines += ['  edge [fontname="Helvetica", fontsize=11]']
    for node, (feature, threshold, if_true, if_false) in enumerate(tree.nodes):
        if feature < 0:
            action = int(tree.action[node])
            fill = colour_of(action)
            lines.append(
                f"  n{node} [label={quoted(words.actions[action])}, shape=ellipse, style=filled, "
                f'fillcolor="{fill}", fontcolor="{ink_on(fill)}"]'
            )
            continue
        comparison = quoted(words.comparison(feature, threshold))
        lines.append(f"  n{node} [label={comparison}, fillcolor=white]")
        lines.append(f'  n{node} -> n{if_true} [label="yes"]')
        lines.append(f'  n{node} -> n{if_false} [label="no"]')
    return "\n".join([*lines, "}"]) + "\n"


def quoted(text: str) -> str:
    """A string that Graphviz shows as it is: neither its escapes nor its entities apply."""
    escaped = text.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
