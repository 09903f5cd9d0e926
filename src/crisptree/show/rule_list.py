"""Trees that read as a list: every comparison leads to a leaf on at least one side.

A rule list is one, and so is a tree whose comparisons end in a leaf on either side: if … then …,
else if … then …, otherwise …
"""

from typing import NamedTuple

from crisptree.crisp import CrispTree


class ListedRule(NamedTuple):
    """If `node` gives `answer`, the tree ends in `leaf`; otherwise the next rule decides."""

    node: int
    answer: bool
    leaf: int


class RuleList(NamedTuple):
    """The rules in their order, and what remains."""

    rules: tuple[ListedRule, ...]
    otherwise: int
    """The leaf where no rule applied."""


def as_rule_list(tree: CrispTree) -> RuleList | None:
    """The tree as a list, or None if it branches."""
    rules: list[ListedRule] = []
    node = 0
    while tree.feature[node] >= 0:
        _, _, if_true, if_false = tree.nodes[node]
        if tree.feature[if_true] < 0:
            rules.append(ListedRule(node, True, if_true))
            node = if_false
        elif tree.feature[if_false] < 0:
            rules.append(ListedRule(node, False, if_false))
            node = if_true
        else:
            return None
    return RuleList(tuple(rules), node)
