"""The comment at the head of an exported file: the policy, and the rule for NaN."""

from importlib.metadata import version

from crisptree.base.text import printable
from crisptree.crisp import CrispTree

NAN_RULE = "A feature that is NaN makes every comparison with it FALSE"


def about(tree: CrispTree) -> tuple[str, ...]:
    """What the tree is for, how large it is, what wrote it; each line safe to print."""
    kind = "rule list" if tree.is_rule_list else "decision tree"
    leaves = f"{tree.n_leaves} {'leaf' if tree.n_leaves == 1 else 'leaves'}"
    nan = f"{NAN_RULE}, and a formula its least value." if tree.is_linear else f"{NAN_RULE}."
    return (
        f"{printable(tree.env_id or 'A policy')}: {kind}, {leaves}, depth {tree.depth}.",
        nan,
        f"Written by crisptree {version('crisptree')}.",
    )
