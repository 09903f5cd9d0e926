"""A policy as a Markdown table, one rule a row."""

import re

from crisptree.crisp import CrispTree
from crisptree.show.chain import as_chain
from crisptree.show.words import Words


def as_markdown(tree: CrispTree, *, decimals: int | None = None) -> str:
    """The rules of a list in order, the last row for where none holds; those of a tree exclude
    each other."""
    words = Words(tree, decimals)
    chain = as_chain(tree)
    rows: list[tuple[str, int]] = []
    if chain is None:
        rows = [(words.conditions(rule.conditions), rule.leaf) for rule in tree.rules()]
    else:
        for node, answer, leaf in chain.links:
            feature, threshold, _, _ = tree.nodes[node]
            start = "else if" if rows else "if"
            rows.append((f"{start} {words.comparison(feature, threshold, answer)}", leaf))
        rows.append(("otherwise" if rows else "always", chain.otherwise))
    lines = ["| rule | if | then |", "|---:|---|---|"]
    for at, (when, leaf) in enumerate(rows, start=1):
        lines.append(f"| {at} | {escaped(when)} | {escaped(words.actions[tree.action[leaf]])} |")
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """Text that Markdown shows as it is, inside a table too."""
    return re.sub(r"([\\`*_\[\]<&|~$])", r"\\\1", text)
