"""The participants' pages: always the first one that has no answer yet.

The address never says which question comes; the database does. So reloading, going back, a second
tab or another device all lead to the same place, and an answer sent twice is stored once.
"""

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse
from sqlalchemy import Connection

from crisptree.lab.study.steps import current, steps
from crisptree.lab.study.store import (
    Participant,
    answered_steps,
    count_waiting,
    invite,
    note_view,
    store_answer,
)
from crisptree.lab.study.web.desk import TOO_FAST, AtDesk, Desk, address_of, the_person, turn_away
from crisptree.lab.study.web.forms import Form, FormError, timing_of, value_of
from crisptree.lab.study.web.guard import same_site
from crisptree.lab.study.web.rendering import message, page, step_page

MOST_WAITING = 2_000
"""People who came by the open link and have not begun; more than that is no study but an attack."""
KEPT = "You had answered that page before. Your first answer was kept."

router = APIRouter()


@router.get("/p/{link}")
def show(link: str, desk: AtDesk, request: Request, kept: str = "") -> Response:
    """The page the participant has come to."""
    with desk.engine.begin() as connection:
        who = the_person(connection, desk, link, request)
        return _current_page(connection, desk, who, link, KEPT if kept else "")


@router.get("/p/{link}/declined")
def declined(link: str, desk: AtDesk, request: Request) -> Response:
    with desk.engine.begin() as connection:
        the_person(connection, desk, link, request)
    return message("You did not take part", "No answer is stored. You can close this page.")


@router.post("/p/{link}/{key}", dependencies=[Depends(same_site)])
def answer(link: str, key: str, desk: AtDesk, fields: Form, request: Request) -> Response:
    """Store the answer to a page, unless there is one. The reply leaves after the commit."""
    definition = desk.study.definition
    with desk.engine.begin() as connection:
        who = the_person(connection, desk, link, request)
        all_steps = steps(definition, who.plan)
        step = next((each for each in all_steps if each.key == key), None)
        if step is None:
            raise HTTPException(404, "There is no such page.")
        desk.signer.check(fields, who.link_hash, step.key)
        answered = answered_steps(connection, who)
        if step.key in answered:
            return _onwards(request, link, kept=True)
        if current(all_steps, answered) != step:
            raise HTTPException(409, "That page is not open yet. Please reload.")
        if step.kind == "consent" and fields.get("answer") == "no":
            return _onwards(request, f"{link}/declined")
        try:
            timing = timing_of(fields)
            value = value_of(definition, step, fields)
        except FormError as error:
            return _current_page(connection, desk, who, link, str(error), 422)
        is_new = store_answer(connection, desk.study, who, step, value, timing)
    return _onwards(request, link, kept=not is_new)


@router.get("/join/{code}")
def join(code: str, desk: AtDesk, request: Request) -> Response:
    """The open link."""
    if not desk.open_link or code != desk.study.join_code:
        turn_away(request)
    return page(
        "join.html",
        questionnaire=desk.study.definition.questionnaire,
        address=f"/join/{code}",
        token=desk.signer.token("join"),
    )


@router.post("/join/{code}", dependencies=[Depends(same_site)])
def joined(code: str, desk: AtDesk, fields: Form, request: Request) -> Response:
    """A link of one's own for somebody who came by the open one."""
    if not desk.open_link or code != desk.study.join_code:
        turn_away(request)
    desk.signer.check(fields, "join")
    if not desk.limits.newcomer.allows(address_of(request)):
        raise HTTPException(429, TOO_FAST)
    with desk.engine.begin() as connection:
        if count_waiting(connection, desk.study) >= MOST_WAITING:
            raise HTTPException(429, "The study takes no more people at the moment.")
        (link,) = invite(connection, desk.study, 1)
    return RedirectResponse(f"/p/{link}", status_code=303)


def _current_page(
    connection: Connection,
    desk: Desk,
    who: Participant,
    link: str,
    notice: str = "",
    status: int = 200,
) -> Response:
    definition = desk.study.definition
    answered = answered_steps(connection, who)
    all_steps = steps(definition, who.plan)
    step = current(all_steps, answered)
    if step is None:
        return page("done.html", questionnaire=definition.questionnaire, participant=who)
    note_view(connection, who, step)
    practised = answered.get(step.key.replace("worked-", "practice-"), {})
    return step_page(
        definition,
        who,
        all_steps,
        step,
        address=f"/p/{link}/{step.key}",
        token=desk.signer.token(who.link_hash, step.key),
        practice_answer=practised.get("action"),
        notice=notice,
        status=status,
    )


def _onwards(request: Request, to: str, kept: bool = False) -> Response:
    """To the next page: as a redirect, or as JSON for the page's own script.

    `kept`: there was an answer before this one. The script sees for itself whether that was its
    own first try, whose reply got lost; then there is nothing to tell anybody.
    """
    if request.headers.get("accept") == "application/json":
        return JSONResponse({"saved": True, "kept": kept, "next": f"/p/{to}"})
    return RedirectResponse(f"/p/{to}?kept=1" if kept else f"/p/{to}", status_code=303)
