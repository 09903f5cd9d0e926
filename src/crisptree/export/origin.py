"""The few lines that say what an exported file is."""

from importlib.metadata import version

from crisptree.base.text import printable
from crisptree.crisp import CrispTree


def about(tree: CrispTree) -> tuple[str, ...]:
    """What the tree is for, how large it is, what wrote it; each line safe to print."""
    kind = "rule list" if tree.is_rule_list else "decision tree"
    leaves = f"{tree.n_leaves} {'leaf' if tree.n_leaves == 1 else 'leaves'}"
    return (
        f"{printable(tree.env_id or 'A policy')}: {kind}, {leaves}, depth {tree.depth}.",
        f"Written by crisptree {version('crisptree')}.",
    )
