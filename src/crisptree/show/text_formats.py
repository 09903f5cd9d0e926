"""A policy as plain text: an indented tree, rules in words, a Markdown table."""

import re
from collections.abc import Iterator

from crisptree.crisp import CrispTree
from crisptree.show.rule_list import as_rule_list
from crisptree.show.wording import Wording


def as_text(tree: CrispTree, *, decimals: int | None = None) -> str:
    """One line per node, as file managers draw folders: a question with its answers below it, or an
    action. The TRUE branch comes first."""
    wording = Wording(tree, decimals)
    lines: list[str] = []
    below = {-1: ""}  # the prefix of the lines below a node
    for visit in tree.walk():
        before = ""
        below[visit.node] = ""
        if visit.parent >= 0:
            indent = below[visit.parent]
            before = indent + ("├── yes: " if visit.branch else "└── no: ")
            below[visit.node] = indent + ("│   " if visit.branch else "    ")
        node = visit.node
        said = wording.actions.of(node) if visit.is_leaf else wording.question(node)
        lines.append(before + said)
    return "\n".join(lines) + "\n"


def as_rules(tree: CrispTree, *, decimals: int | None = None) -> str:
    """One line per rule. The rules of a tree exclude each other; those of a list apply in order."""
    wording = Wording(tree, decimals)
    is_list = as_rule_list(tree) is not None
    lines = []
    for condition, leaf in rules_in_words(tree, wording):
        action = wording.actions.of(leaf)
        if condition in ("always", "otherwise"):
            lines.append(f"{condition} {action}")
        else:
            lines.append(f"{condition} then {action}{';' if is_list else ''}")
    return "\n".join(lines) + "\n"


def as_markdown(tree: CrispTree, *, decimals: int | None = None) -> str:
    """A table with one rule per row; the last row of a list is for observations that meet no
    rule."""
    wording = Wording(tree, decimals)
    is_list = as_rule_list(tree) is not None
    lines = ["| rule | if | then |", "|---:|---|---|"]
    for at, (condition, leaf) in enumerate(rules_in_words(tree, wording), start=1):
        when = condition if is_list else condition.removeprefix("if ")
        lines.append(f"| {at} | {in_markdown(when)} | {in_markdown(wording.actions.of(leaf))} |")
    return "\n".join(lines) + "\n"


def rules_in_words(tree: CrispTree, wording: Wording) -> Iterator[tuple[str, int]]:
    """`(condition, leaf)` of every rule: `if …`; of a list also `else if …`, `otherwise`."""
    listed = as_rule_list(tree)
    if listed is None:
        for rule in tree.rules():
            yield f"if {wording.conditions(rule.conditions)}", rule.leaf
        return
    for at, (node, answer, leaf) in enumerate(listed.rules):
        yield f"{'else if' if at else 'if'} {wording.answer(node, answer)}", leaf
    yield "otherwise" if listed.rules else "always", listed.otherwise


def in_markdown(text: str) -> str:
    """Text that Markdown shows unchanged, also inside a table."""
    return re.sub(r"([\\`*_\[\]<&|~$])", r"\\\1", text)
