"""What one participant does, one page after the other."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from crisptree.lab.study.definition import Definition
from crisptree.lab.study.orders import Order

StepKind = Literal["consent", "instructions", "practice", "worked", "item", "ratings", "closing"]


@dataclass(frozen=True)
class Step:
    key: str
    """The step's name in the database and in the page's address."""
    kind: StepKind
    block: int | None = None
    """Which of the study's blocks, for the pages about an aid."""
    item: int | None = None
    """Which of the block's items, for a question."""


@dataclass(frozen=True)
class Plan:
    """The orders drawn for one participant."""

    aids: Order
    items: tuple[Order, ...]
    """By block of the study, not by place in the order."""


CONSENT = Step("consent", "consent")


def steps(definition: Definition, plan: Plan | None) -> tuple[Step, ...]:
    """All pages, in the participant's order; before the plan is drawn, only the first."""
    if plan is None:
        return (CONSENT,)
    found = [CONSENT, Step("instructions", "instructions")]
    for block in plan.aids:
        name = definition.blocks[block].name
        found += [
            Step(f"practice-{name}", "practice", block),
            Step(f"worked-{name}", "worked", block),
        ]
        found += [
            Step(f"item-{name}-{item + 1}", "item", block, item) for item in plan.items[block]
        ]
        found.append(Step(f"ratings-{name}", "ratings", block))
    return (*found, Step("closing", "closing"))


def current(steps: tuple[Step, ...], answered: Collection[str]) -> Step | None:
    """The first page without an answer; None when all have one."""
    return next((step for step in steps if step.key not in answered), None)
