"""The researcher's pages: how the study stands, its report, new links, the answers, deletion."""

from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.responses import RedirectResponse

from crisptree.lab.study.answer_table import as_csv
from crisptree.lab.study.database import (
    all_participants,
    delete_participant,
    invite,
    read_rows,
    truncate_journal,
)
from crisptree.lab.study.study_report import sections
from crisptree.lab.study.study_results import StudyResults, results_of
from crisptree.lab.study.summary_text import SIMULATED
from crisptree.lab.study.web.context import AppContext, Context, address_of
from crisptree.lab.study.web.forms import Fields, Form
from crisptree.lab.study.web.rendering import drawing_values, item_values, render
from crisptree.lab.study.web.security import SESSION_COOKIE, SESSION_SECONDS, same_site

MOST_LINKS = 500

router = APIRouter(prefix="/researcher")


def signed_in(request: Request, context: Context) -> str:
    """The token of the researcher's session."""
    token = request.cookies.get(SESSION_COOKIE, "")
    if not context.sessions.is_open(token):
        raise HTTPException(401, "Please sign in at /researcher first.")
    return token


SessionToken = Annotated[str, Depends(signed_in)]
SIGNED_IN = [Depends(signed_in)]
POST = [Depends(same_site)]


def own_form(context: Context, session: SessionToken, fields: Form) -> Fields:
    """The fields of a form that the signed-in researcher sent from one of these pages."""
    context.signer.check(fields, "researcher", session)
    return fields


OwnForm = Annotated[Fields, Depends(own_form)]


@router.get("")
def overview(request: Request, context: Context) -> Response:
    session = request.cookies.get(SESSION_COOKIE, "")
    if not context.sessions.is_open(session):
        return render("login.html", notice="", token=context.signer.token("login"))
    with context.engine.begin() as connection:
        people = all_participants(connection, context.study)
    return render(
        "researcher.html",
        study=context.study,
        people=people,
        begun=sum(who.begun_at is not None for who in people),
        finished=sum(who.finished_at is not None for who in people),
        join=f"{context.url}/join/{context.study.join_code}" if context.open_link else "",
        most_links=MOST_LINKS,
        token=context.signer.token("researcher", session),
    )


@router.post("/login", dependencies=POST)
def login(request: Request, context: Context, fields: Form) -> Response:
    context.signer.check(fields, "login")
    if not context.limits.sign_in.allows(address_of(request)):
        raise HTTPException(429, "Too many attempts. Please wait a minute.")
    if not context.sessions.knows(fields.get("secret", "")):
        token = context.signer.token("login")
        return render("login.html", 403, notice="That is not the secret.", token=token)
    response = RedirectResponse("/researcher", status_code=303)
    response.set_cookie(
        SESSION_COOKIE,
        context.sessions.open(),
        max_age=SESSION_SECONDS,
        path="/researcher",
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return response


@router.post("/logout", dependencies=POST)
def logout(context: Context, session: SessionToken, fields: OwnForm) -> Response:
    context.sessions.close(session)
    response = RedirectResponse("/researcher", status_code=303)
    response.delete_cookie(SESSION_COOKIE, path="/researcher")
    return response


@router.post("/invite", dependencies=POST)
def new_links(context: Context, fields: OwnForm) -> Response:
    count = _number(fields, "count", MOST_LINKS)
    with context.engine.begin() as connection:
        links = [f"{context.url}/p/{link}" for link in invite(connection, context.study, count)]
    return render("links.html", links=links)


@router.post("/delete", dependencies=POST)
def delete(context: Context, fields: OwnForm) -> Response:
    number = _number(fields, "number", 2**31 - 1)
    with context.engine.begin() as connection:
        if not delete_participant(connection, context.study, number):
            raise HTTPException(404, f"There is no participant {number}.")
    truncate_journal(context.engine)
    return RedirectResponse("/researcher", status_code=303)


@router.get("/answers.csv", dependencies=SIGNED_IN)
def answers(context: Context) -> Response:
    with context.engine.begin() as connection:
        rows = read_rows(connection, context.study)
    return Response(
        as_csv(rows),
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{context.study.name}.csv"'},
    )


@router.get("/report", dependencies=SIGNED_IN)
def report(context: Context) -> Response:
    """The report of the answers so far, as `crisptree study report` writes it."""
    results = _results(context)
    return render(
        "report.html",
        study=context.study,
        simulated=SIMULATED if results.measured.simulated else "",
        sections=sections(results),
        has_figure=bool(results.policies),
    )


@router.get("/figure.{kind}", dependencies=SIGNED_IN)
def figure(context: Context, kind: str) -> Response:
    types = {"svg": "image/svg+xml", "png": "image/png"}
    results = _results(context)
    if kind not in types or not results.policies:
        raise HTTPException(404, "There is no such figure yet.")
    from crisptree.lab.study.study_figure import draw

    return Response(draw(results, kind), media_type=types[kind])


@router.get("/preview", dependencies=SIGNED_IN)
def preview(context: Context) -> Response:
    blocks = [
        drawing_values(block)
        | {"name": block.name}
        | {"items": [item_values(block, item) for item in (block.practice, *block.items)]}
        for block in context.study.definition.blocks
    ]
    return render("preview.html", blocks=blocks)


def _results(context: AppContext) -> StudyResults:
    with context.engine.begin() as connection:
        rows = read_rows(connection, context.study)
    return results_of(context.study, rows)


def _number(fields: Fields, name: str, most: int) -> int:
    text = fields.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and 1 <= int(text) <= most):
        raise HTTPException(422, f"{name} must be a whole number, 1 … {most:,}.")
    return int(text)
