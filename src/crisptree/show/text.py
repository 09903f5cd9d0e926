"""A tree as indented text, as file managers draw folders; the TRUE branch comes first."""

from crisptree.crisp import CrispTree
from crisptree.show.words import Words


def as_text(tree: CrispTree, *, decimals: int | None = None) -> str:
    """One line a node: a comparison with its answers below it, or an action."""
    words = Words(tree, decimals)
    lines: list[str] = []
    waiting = [(0, "", "")]
    while waiting:
        node, before, below = waiting.pop()
        feature, threshold, if_true, if_false = tree.nodes[node]
        if feature < 0:
            lines.append(before + words.actions[tree.action[node]])
            continue
        lines.append(before + words.comparison(feature, threshold))
        waiting.append((if_false, f"{below}└── no: ", f"{below}    "))
        waiting.append((if_true, f"{below}├── yes: ", f"{below}│   "))
    return "\n".join(lines) + "\n"
