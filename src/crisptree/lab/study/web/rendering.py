"""Pages from templates, with everything escaped but our own drawings."""

import re
from collections.abc import Sequence
from typing import Any

from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from crisptree.lab.study.action_fields import Value
from crisptree.lab.study.definition import Block, Definition
from crisptree.lab.study.items import Item
from crisptree.lab.study.linear_mlp import minus
from crisptree.lab.study.page_sequence import Page
from crisptree.lab.study.questionnaire import POINTS
from crisptree.lab.study.records import Participant

TITLES = {"tree": "Decision tree", "list": "Rule list", "mlp": "Network"}
NARROW, WIDE = 460.0, 620.0
"""Drawings up to the first width are shrunk to fit a telephone; wider ones would become too small
to read, and are scrolled instead. Those over the second have the whole width of the page."""

_templates = Environment(
    loader=PackageLoader("crisptree.lab.study", "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_templates.filters["minus"] = minus
_templates.filters["paragraphs"] = lambda text: [
    part.strip() for part in text.split("\n\n") if part.strip()
]


def render(template: str, status: int = 200, **values: Any) -> HTMLResponse:
    return HTMLResponse(_templates.get_template(template).render(**values), status_code=status)


def message(title: str, text: str, status: int = 200) -> HTMLResponse:
    """A page that only says something."""
    return render("message.html", status, title=title, text=text)


def questionnaire_page(
    definition: Definition,
    participant: Participant,
    pages: tuple[Page, ...],
    page: Page,
    *,
    address: str,
    token: str,
    practice_answer: Sequence[Value] | None = None,
    notice: str = "",
    status: int = 200,
) -> HTMLResponse:
    """One page of the questionnaire."""
    values = {
        "questionnaire": definition.questionnaire,
        "participant": participant,
        "page": page,
        "address": address,
        "token": token,
        "notice": notice,
        "done": pages.index(page),
        "of": len(pages),
        "points": POINTS,
    }
    if page.block is not None:
        block = definition.blocks[page.block]
        order = [other.block for other in pages if other.kind == "ratings"]
        same = [each for each in pages if each.kind == "item" and each.block == page.block]
        item = block.practice if page.item is None else block.items[page.item]
        values |= drawing_values(block) | item_values(block, item)
        values |= {
            "policy_number": order.index(page.block) + 1,
            "policy_count": len(order),
            "item_number": same.index(page) + 1 if page.kind == "item" else 0,
            "item_count": len(same),
            "right": _is_right(block, practice_answer),
        }
    template = {"practice": "question", "item": "question"}.get(page.kind, page.kind)
    return render(f"{template}.html", status, **values)


def drawing_values(block: Block) -> dict[str, Any]:
    drawing = block.drawing
    svg = drawing.svg()
    return {
        "drawing_title": TITLES[drawing.kind],
        "how_to_read": drawing.how_to_read(),
        "drawing": Markup(svg),
        "size": size_of(width_of(svg)),
        "drawing_text": drawing.text(),
        "fields": block.fields,
    }


def item_values(block: Block, item: Item) -> dict[str, Any]:
    drawing = block.drawing
    answers = zip(block.fields, item.answer, strict=True)
    return {
        "state": list(
            zip(drawing.policy.feature_names, drawing.shown_state(item.state), strict=True)
        ),
        "worked": drawing.worked(item.state),
        "answer": "; ".join(
            field.text(value) if field.choices else minus(field.text(value))
            for field, value in answers
        ),
    }


def width_of(svg: str) -> float:
    """The width a drawing gives itself, in pixels."""
    found = re.search(r'<svg[^>]* width="([0-9.]+)"', svg)
    assert found is not None
    return float(found[1])


def size_of(width: float) -> str:
    """The name the style sheet has for drawings of such a width."""
    return "narrow" if width <= NARROW else "middling" if width <= WIDE else "wide"


def _is_right(block: Block, given: Sequence[Value] | None) -> bool:
    """Whether the practice question was answered as the policy acts."""
    return given is not None and all(
        field.is_right(mine, right)
        for field, mine, right in zip(block.fields, given, block.practice.answer, strict=True)
    )
