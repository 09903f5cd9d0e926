"""What the commands that read a policy have in common."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from crisptree.base.errors import CrisptreeError
from crisptree.base.text import printable

if TYPE_CHECKING:
    from crisptree.crisp import Condition, CrispTree


MOST = 4_096
MOST_COMPARISONS = 1_000_000


def loaded(path: str) -> "CrispTree":
    """The policy in a file, unless it is so large that no command could do with it what it does:
    rules and drawings grow with the leaves times their depth."""
    from crisptree.crisp import CrispTree

    tree = CrispTree.load(path)
    for count, most, what in (
        (tree.n_leaves, MOST, "leaves"),
        (tree.n_features, MOST, "features"),
        (tree.n_actions, MOST, "actions"),
        (_comparisons(tree), MOST_COMPARISONS, "comparisons in its rules"),
    ):
        if count > most:
            raise CrisptreeError(
                f"{path} has {count:,} {what}; this command takes policies of at most {most:,}"
            )
    return tree


def _comparisons(tree: "CrispTree") -> int:
    """The depths of all leaves together."""
    total = 0
    waiting = [(0, 0)]
    while waiting:
        node, depth = waiting.pop()
        feature, _, if_true, if_false = tree.nodes[node]
        if feature < 0:
            total += depth
        else:
            waiting += [(if_true, depth + 1), (if_false, depth + 1)]
    return total


def environment_of(tree: "CrispTree", asked_for: str | None) -> str:
    """The environment to play: the one asked for, or the file's own, unless that would import a
    module, which is the user's to decide."""
    if asked_for is not None:
        return asked_for
    if tree.env_id is None:
        raise CrisptreeError("the policy names no environment; --env ENV would")
    if ":" in tree.env_id:
        raise CrisptreeError(
            f"the policy's environment, {printable(tree.env_id)}, would import a module; if you "
            f"trust it: --env {printable(tree.env_id)}"
        )
    return tree.env_id


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as they need to be; names are made printable."""
    safe = [[printable(cell) for cell in row] for row in rows]
    widths = [max(len(row[at]) for row in safe) for at in range(len(safe[0]))]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in safe
    )
    return "\n".join(line.rstrip() for line in lines)


def in_words(conditions: Sequence["Condition"], tree: "CrispTree") -> str:
    """Conditions with their exact numbers."""
    parts = []
    for feature, above, at_most in conditions:
        low = "" if above == float("-inf") else f"{above!r} < "
        high = "" if at_most == float("inf") else f" ≤ {at_most!r}"
        parts.append(f"{low}{tree.feature_names[feature]}{high}")
    return " and ".join(parts) or "everywhere"
