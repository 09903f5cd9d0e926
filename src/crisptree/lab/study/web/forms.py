"""What browsers send, looked at before anything else sees it.

Only ordinary form fields, few and short. Whatever a page does not offer is refused, so nothing
lands in the database that no page could have asked for.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl

from fastapi import Depends, HTTPException, Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import ClientDisconnect

from crisptree.lab.study.action_fields import ActionField, Value
from crisptree.lab.study.definition import Definition
from crisptree.lab.study.page_sequence import Page
from crisptree.lab.study.questionnaire import POINTS
from crisptree.lab.study.records import Timing

LARGEST_BODY = 64 * 1024
MOST_FIELDS = 2 * 50 + 10
LONGEST_COMMENT = 5_000
LONGEST_TEXT = 500
ONE_WEEK_MS = 7 * 24 * 3600 * 1000
NUMBER = re.compile(r"[+-]?(\d{1,12}(\.\d{0,12})?|\.\d{1,12})", re.ASCII)
Fields = dict[str, str]
Milliseconds = Annotated[int, Field(ge=0, le=ONE_WEEK_MS)]


class FormError(Exception):
    """The form cannot be accepted; the message tells the person who filled it in why."""


class BrowserTiming(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    ms: Milliseconds
    away_ms: Milliseconds
    focus_log: Annotated[list[tuple[Milliseconds, Literal["blur", "focus"]]], Field(max_length=200)]


async def form_fields(request: Request) -> Fields:
    """The fields of a form post, each once."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPException(415, "This is not a form.")
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > LARGEST_BODY:
                raise HTTPException(413, "That was too long.")
    except ClientDisconnect:
        raise HTTPException(400, "This form never arrived.") from None
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=MOST_FIELDS,
        )
    except ValueError:
        raise HTTPException(400, "This form cannot be read.") from None
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise HTTPException(400, "This form says something twice.")
    if any("\0" in text for pair in pairs for text in pair):
        raise HTTPException(400, "This form cannot be read.")  # PostgreSQL has no NUL
    return fields


Form = Annotated[Fields, Depends(form_fields)]


def timing_of(fields: Fields) -> Timing | None:
    """What the page's clock says; nothing where scripts are off."""
    sent = fields.pop("timing", "")
    if not sent:
        return None
    try:
        timing = BrowserTiming.model_validate_json(sent)
    except ValidationError:
        raise FormError("The page's clock sent something that cannot be read.") from None
    if timing.away_ms > timing.ms:
        raise FormError("The page's clock contradicts itself.")
    return Timing(timing.ms, timing.away_ms, [[at, what] for at, what in timing.focus_log])


def value_of(definition: Definition, page: Page, fields: Fields) -> dict[str, Any]:
    """The answer a page's fields give, as it will be stored."""
    match page.kind:
        case "consent":
            _only(fields, {"answer"})
            if fields.get("answer") != "yes":
                raise FormError("Please choose one of the two buttons.")
            return {"agreed": True}
        case "instructions" | "worked":
            _only(fields, set())
            return {"read": True}
        case "practice" | "item":
            assert page.block is not None
            parts = definition.blocks[page.block].fields
            _only(fields, {f"action-{at}" for at in range(len(parts))})
            return {
                "action": [_part(fields, f"action-{at}", each) for at, each in enumerate(parts)]
            }
        case "ratings":
            names = [statement.name for statement in definition.questionnaire.statements]
            _only(fields, {f"rating-{name}" for name in names})
            missing = "Please rate every statement."
            return {
                name: 1 + _choice(fields, f"rating-{name}", len(POINTS), missing) for name in names
            }
        case "closing":
            return _closing(definition, fields)


def _closing(definition: Definition, fields: Fields) -> dict[str, Any]:
    questions = definition.questionnaire.questions
    _only(fields, {"comment", *(f"question-{question.name}" for question in questions)})
    found: dict[str, Any] = {}
    for question in questions:
        answer = fields.get(f"question-{question.name}", "").strip()
        if question.choices and answer and answer not in question.choices:
            raise FormError("Please choose one of the answers offered.")
        found[question.name] = _short(answer, LONGEST_TEXT)
    return {
        "comment": _short(fields.get("comment", "").strip(), LONGEST_COMMENT),
        "questions": found,
    }


def _part(fields: Mapping[str, str], name: str, part: ActionField) -> Value:
    """What was filled in for one part of an action: a choice, or a number."""
    if part.choices:
        return _choice(fields, name, len(part.choices), "Please choose an action.")
    sent = fields.get(name, "").strip().replace("−", "-").replace(",", ".")
    if not NUMBER.fullmatch(sent):
        raise FormError("Please give a number, such as -0.25.")
    value = float(sent)
    if not part.low <= value <= part.high:
        raise FormError(f"The action lies {part.range_text}.")
    return value


def _choice(fields: Mapping[str, str], name: str, count: int, missing: str) -> int:
    chosen = fields.get(name)
    if chosen is None:
        raise FormError(missing)
    if chosen not in map(str, range(count)):
        raise FormError("Please choose one of the answers offered.")
    return int(chosen)


def _only(fields: Mapping[str, str], known: set[str]) -> None:
    if set(fields) - known:
        raise FormError("This form holds something that no page asked for.")


def _short(text: str, longest: int) -> str:
    # Browsers send line ends as two characters and count them as one.
    text = text.replace("\r\n", "\n")
    if len(text) > longest:
        raise FormError(f"Please write at most {longest:,} characters.")
    return text
