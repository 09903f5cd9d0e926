"""What stands above a drawing or a page: the title, the size of the tree, its score."""

import math
from collections.abc import Mapping
from typing import Any

from crisptree.base.text import counted, printable
from crisptree.crisp import CrispTree


def title_of(tree: CrispTree) -> str:
    """The environment's id, or `Policy`."""
    return printable(tree.env_id or "Policy")


def size_of(tree: CrispTree) -> str:
    """`decision tree of 16 leaves, depth 6`, or `list of 3 rules and an otherwise`."""
    if tree.is_rule_list and tree.n_leaves > 1:
        return f"list of {counted(tree.n_leaves - 1, 'rule')} and an otherwise"
    return f"decision tree of {counted(tree.n_leaves, 'leaf', 'leaves')}, depth {tree.depth}"


def score_of(training: Mapping[str, Any]) -> str:
    """`return 251.0 ± 3.6 over 500 episodes`, as far as the metadata have it; else nothing.
    Metadata are free: what is not a finite number counts as missing."""
    mean = _number(training, "crisp_return", "return", "mean_return")
    error = _number(training, "crisp_return_se", "standard_error", "return_se")
    episodes = _number(training, "episodes")
    if mean is None:
        return ""
    over = "" if episodes is None or episodes < 1 else f" over {counted(int(episodes), 'episode')}"
    return f"return {_mean_and_error(mean, None if error is None or error < 0 else error)}{over}"


def _number(training: Mapping[str, Any], *names: str) -> float | None:
    """The first of these fields that holds a finite number."""
    for name in names:
        value = training.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            try:
                if math.isfinite(value):
                    return float(value)
            except OverflowError:
                continue
    return None


def _mean_and_error(mean: float, error: float | None) -> str:
    """`251.0 ± 3.6`: both with the decimals that two digits of the error ask for."""
    size = max(abs(mean), error or 0.0)
    if size >= 1e9:
        text = f"{mean:.2e}" if error is None else f"{mean:.2e} ± {error:.1e}"
    elif error is None:
        text = f"{mean:,.1f}" if size >= 10 else f"{mean:.3g}"
    else:
        decimals = min(max(1 - math.floor(math.log10(error)), 1), 4) if error > 0 else 1
        text = f"{mean:,.{decimals}f} ± {error:,.{decimals}f}"
    return text.replace("-", "−")
