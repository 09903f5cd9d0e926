"""A policy in words: a rule list as if, else if, otherwise; a tree as one rule a leaf."""

from crisptree.crisp import CrispTree
from crisptree.show.chain import as_chain
from crisptree.show.words import Words


def as_rules(tree: CrispTree, *, decimals: int | None = None) -> str:
    """One line a rule. The rules of a tree exclude each other; those of a list go in order."""
    words = Words(tree, decimals)
    chain = as_chain(tree)
    if chain is None:
        lines = [
            f"if {words.conditions(rule.conditions)} then {words.actions[rule.action]}"
            for rule in tree.rules()
        ]
    elif not chain.links:
        lines = [f"always {words.actions[tree.action[0]]}"]
    else:
        lines = []
        for node, answer, leaf in chain.links:
            feature, threshold, _, _ = tree.nodes[node]
            start = "else if" if lines else "if"
            comparison = words.comparison(feature, threshold, answer)
            lines.append(f"{start} {comparison} then {words.actions[tree.action[leaf]]};")
        lines.append(f"otherwise {words.actions[tree.action[chain.otherwise]]}")
    return "\n".join(lines) + "\n"
