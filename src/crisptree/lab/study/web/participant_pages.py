"""The participants' pages: always the first one that has no answer yet.

The address never says which question comes; the database does. So reloading, going back, a second
tab or another device all lead to the same place, and an answer sent twice is stored once.
"""

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse
from sqlalchemy import Connection

from crisptree.lab.study.database import (
    add_newcomer,
    answered_pages,
    count_idle_newcomers,
    note_view,
    store_answer,
)
from crisptree.lab.study.page_sequence import next_page, page_sequence
from crisptree.lab.study.records import Participant
from crisptree.lab.study.web.context import TOO_FAST, AppContext, Context, address_of
from crisptree.lab.study.web.forms import Form, FormError, timing_of, value_of
from crisptree.lab.study.web.rendering import message, questionnaire_page, render
from crisptree.lab.study.web.security import same_site

MOST_IDLE_NEWCOMERS = 2_000
"""Most people who came by the open link and have not begun; more are taken for an attack."""
KEPT = "You had answered that page before. Your first answer was kept."

router = APIRouter()


@router.get("/p/{link}")
def show(link: str, context: Context, request: Request, kept: str = "") -> Response:
    """The page the participant has come to."""
    with context.engine.begin() as connection:
        who = context.participant(connection, link, request)
        return _current_page(connection, context, who, link, KEPT if kept else "")


@router.get("/p/{link}/declined")
def declined(link: str, context: Context, request: Request) -> Response:
    with context.engine.begin() as connection:
        context.participant(connection, link, request)
    return message("You did not take part", "No answer is stored. You can close this page.")


@router.post("/p/{link}/{key}", dependencies=[Depends(same_site)])
def answer(link: str, key: str, context: Context, fields: Form, request: Request) -> Response:
    """Store the answer to a page, unless there is one. The reply leaves after the commit."""
    definition = context.study.definition
    with context.engine.begin() as connection:
        who = context.participant(connection, link, request)
        pages = page_sequence(definition, who.assignment)
        page = next((each for each in pages if each.key == key), None)
        if page is None:
            raise HTTPException(404, "There is no such page.")
        context.signer.check(fields, who.link_hash, page.key)
        answered = answered_pages(connection, who)
        if page.key in answered:
            return _to_page(request, link, kept=True)
        if next_page(pages, answered) != page:
            raise HTTPException(409, "That page is not open yet. Please reload.")
        if page.kind == "consent" and fields.get("answer") == "no":
            return _to_page(request, f"{link}/declined")
        try:
            timing = timing_of(fields)
            value = value_of(definition, page, fields)
        except FormError as error:
            if _is_script(request):
                return JSONResponse({"saved": False, "notice": str(error)}, 422)
            return _current_page(connection, context, who, link, str(error), 422)
        is_new = store_answer(connection, context.study, who, page, value, timing)
    return _to_page(request, link, kept=not is_new)


@router.get("/join/{code}")
def join(code: str, context: Context, request: Request) -> Response:
    """The open link."""
    if not context.open_link or code != context.study.join_code:
        context.turn_away(request)
    return render(
        "join.html",
        questionnaire=context.study.definition.questionnaire,
        address=f"/join/{code}",
        token=context.signer.token("join"),
    )


@router.post("/join/{code}", dependencies=[Depends(same_site)])
def joined(code: str, context: Context, fields: Form, request: Request) -> Response:
    """A link of one's own for somebody who came by the open one."""
    if not context.open_link or code != context.study.join_code:
        context.turn_away(request)
    context.signer.check(fields, "join")
    if not context.limits.newcomer.allows(address_of(request)):
        raise HTTPException(429, TOO_FAST)
    with context.engine.begin() as connection:
        if count_idle_newcomers(connection, context.study) >= MOST_IDLE_NEWCOMERS:
            raise HTTPException(429, "The study takes no more people at the moment.")
        link = add_newcomer(connection, context.study)
    return RedirectResponse(f"/p/{link}", status_code=303)


def _current_page(
    connection: Connection,
    context: AppContext,
    who: Participant,
    link: str,
    notice: str = "",
    status: int = 200,
) -> Response:
    definition = context.study.definition
    answered = answered_pages(connection, who)
    pages = page_sequence(definition, who.assignment)
    page = next_page(pages, answered)
    if page is None:
        return render("done.html", questionnaire=definition.questionnaire, participant=who)
    note_view(connection, who, page)
    practised = answered.get(page.key.replace("worked-", "practice-"), {})
    return questionnaire_page(
        definition,
        who,
        pages,
        page,
        address=f"/p/{link}/{page.key}",
        token=context.signer.token(who.link_hash, page.key),
        practice_answer=practised.get("action"),
        notice=notice,
        status=status,
    )


def _to_page(request: Request, to: str, kept: bool = False) -> Response:
    """To the next page: as a redirect, or as JSON for the page's own script.

    `kept`: there was an answer before this one. The script sees for itself whether that was its
    own first try, whose reply got lost; then there is nothing to tell anybody.
    """
    if _is_script(request):
        return JSONResponse({"saved": True, "kept": kept, "next": f"/p/{to}"})
    return RedirectResponse(f"/p/{to}?kept=1" if kept else f"/p/{to}", status_code=303)


def _is_script(request: Request) -> bool:
    return request.headers.get("accept") == "application/json"
