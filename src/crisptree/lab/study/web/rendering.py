"""Pages from templates, with everything escaped but our own drawings."""

import re
from typing import Any

from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from crisptree.lab.study.aid import Aid, minus
from crisptree.lab.study.definition import Definition
from crisptree.lab.study.items import Item
from crisptree.lab.study.questionnaire import POINTS
from crisptree.lab.study.steps import Step
from crisptree.lab.study.store import Participant

TITLES = {"tree": "Decision tree", "list": "Rule list", "mlp": "Network"}
NARROW, WIDE = 460.0, 620.0
"""Drawings up to the first width are shrunk to fit a telephone; wider ones would become too small
to read, and are scrolled instead. Those over the second have the whole width of the page."""

_templates = Environment(
    loader=PackageLoader("crisptree.lab.study", "pages"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_templates.filters["paragraphs"] = lambda text: [
    part.strip() for part in text.split("\n\n") if part.strip()
]


def page(template: str, status: int = 200, **values: Any) -> HTMLResponse:
    return HTMLResponse(_templates.get_template(template).render(**values), status_code=status)


def message(title: str, text: str, status: int = 200) -> HTMLResponse:
    """A page that only says something."""
    return page("message.html", status, title=title, text=text)


def step_page(
    definition: Definition,
    participant: Participant,
    steps: tuple[Step, ...],
    step: Step,
    *,
    address: str,
    token: str,
    practice_answer: int | None = None,
    notice: str = "",
    status: int = 200,
) -> HTMLResponse:
    """The page of one step of the questionnaire."""
    values = {
        "questionnaire": definition.questionnaire,
        "participant": participant,
        "step": step,
        "address": address,
        "token": token,
        "notice": notice,
        "done": steps.index(step),
        "of": len(steps),
    }
    if step.block is not None:
        block = definition.blocks[step.block]
        ahead = [other.block for other in steps if other.kind == "ratings"]
        values |= aid_values(block.aid) | {
            "aid_number": ahead.index(step.block) + 1,
            "aid_count": len(ahead),
        }
        if step.kind in ("practice", "worked"):
            values |= item_values(block.aid, block.practice)
        if step.kind == "worked":
            values["right"] = practice_answer == block.practice.answer
        if step.kind == "item":
            assert step.item is not None
            in_block = [each for each in steps if each.kind == "item" and each.block == step.block]
            values |= item_values(block.aid, block.items[step.item]) | {
                "item_number": in_block.index(step) + 1,
                "item_count": len(in_block),
            }
    if step.kind == "ratings":
        values["points"] = POINTS
    template = {"practice": "question", "item": "question"}.get(step.kind, step.kind)
    return page(f"{template}.html", status, **values)


def aid_values(aid: Aid) -> dict[str, Any]:
    drawing = aid.drawing()
    return {
        "aid_title": TITLES[aid.kind],
        "how_to_read": aid.how_to_read(),
        "drawing": Markup(drawing),
        "size": size_of(width_of(drawing)),
        "spoken": aid.spoken(),
        "actions": aid.policy.action_names,
    }


def width_of(drawing: str) -> float:
    """The width a drawing gives itself, in pixels."""
    found = re.search(r'<svg[^>]* width="([0-9.]+)"', drawing)
    assert found is not None
    return float(found[1])


def size_of(width: float) -> str:
    """The name the style sheet has for drawings of such a width."""
    return "narrow" if width <= NARROW else "middling" if width <= WIDE else "wide"


def item_values(aid: Aid, item: Item) -> dict[str, Any]:
    return {
        "state": list(zip(aid.policy.feature_names, map(minus, item.state), strict=True)),
        "worked": aid.worked(item.state),
        "answer": aid.policy.action_names[item.answer],
    }
