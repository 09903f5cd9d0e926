"""Policy gradient and Q-learning on one chain, from many first thresholds: who gets there?"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from crisptree.lab.analysis.experience import Ended, Method, ends, methods
from crisptree.lab.analysis.learning import first_phis
from crisptree.lab.analysis.setting import Setting
from crisptree.lab.analysis.tables import plain

STEPS = 160_000
"""Environment steps from each first φ."""


@dataclass(frozen=True, eq=False)
class Learned:
    """What one learner made of all the first thresholds."""

    method: Method
    alone: Ended
    """φ learns, between the leaves of §5.2."""
    whole: Ended
    """All of the tree learns, from leaves that know nothing."""


def compare(setting: Setting) -> Iterator[Learned]:
    """Every learner under every handling of the terminal states it can be given."""
    first = first_phis(setting)
    for method in methods(setting.gamma):
        yield Learned(
            method,
            ends(setting, method, first, STEPS, alone=True),
            ends(setting, method, first, STEPS, alone=False),
        )


def comparison_table(setting: Setting, found: list[Learned]) -> RenderableType:
    title = f"Learned from experience: share of {len(first_phis(setting))} first φ that end optimal"
    table = plain(title, "learner", "terminal states", "φ alone", "all of the tree")
    for learned in found:
        table.add_row(
            learned.method.name,
            learned.method.handling,
            f"{learned.alone.optimal.mean():.0%}",
            f"{learned.whole.optimal.mean():.0%}",
        )
    key = Text(
        f"{STEPS} steps from each φ; episodes start in i* and in i*+1. φ alone: the leaves are "
        "those of §5.2 and stay. All of the tree: the leaves start even.",
        style="dim",
    )
    return Group(table, key)


def comparison_json(found: list[Learned]) -> list[dict[str, Any]]:
    return [
        {
            "learner": learned.method.name,
            "terminal": learned.method.handling,
            "steps": STEPS,
            "phi_alone": _ended(learned.alone),
            "all_of_the_tree": _ended(learned.whole),
        }
        for learned in found
    ]


def _ended(ended: Ended) -> dict[str, Any]:
    return {
        "optimal_after": float(ended.optimal.mean()),
        "first": ended.first.tolist(),
        "last": ended.last.tolist(),
        "optimal": ended.optimal.tolist(),
    }
