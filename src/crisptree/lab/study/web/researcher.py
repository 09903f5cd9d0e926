"""The researcher's pages: how the study stands, new links, the answers, deletion."""

from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.responses import RedirectResponse

from crisptree.lab.study.export import as_csv, tidy_rows
from crisptree.lab.study.store import all_participants, fold_journal, forget, invite
from crisptree.lab.study.web.desk import AtDesk, address_of
from crisptree.lab.study.web.forms import Fields, Form
from crisptree.lab.study.web.guard import SESSION_COOKIE, SESSION_SECONDS, same_site
from crisptree.lab.study.web.rendering import aid_values, item_values, page

MOST_LINKS = 500

router = APIRouter(prefix="/researcher")


def signed_in(request: Request, desk: AtDesk) -> None:
    if not desk.gate.is_open(request):
        raise HTTPException(401, "Please sign in at /researcher first.")


def own_form(request: Request, desk: AtDesk, fields: Form) -> Fields:
    """The fields of a form that the signed-in researcher sent from one of these pages."""
    signed_in(request, desk)
    desk.signer.check(fields, "researcher", _session(request))
    return fields


OwnForm = Annotated[Fields, Depends(own_form)]
SIGNED_IN = [Depends(signed_in)]
POST = [Depends(same_site)]


@router.get("")
def overview(request: Request, desk: AtDesk) -> Response:
    if not desk.gate.is_open(request):
        return page("login.html", notice="", token=desk.signer.token("login"))
    with desk.engine.begin() as connection:
        people = all_participants(connection, desk.study)
    return page(
        "researcher.html",
        study=desk.study,
        people=people,
        begun=sum(who.begun_at is not None for who in people),
        finished=sum(who.finished_at is not None for who in people),
        join=f"{desk.url}/join/{desk.study.join_code}" if desk.open_link else "",
        most_links=MOST_LINKS,
        token=desk.signer.token("researcher", _session(request)),
    )


@router.post("/login", dependencies=POST)
def login(request: Request, desk: AtDesk, fields: Form) -> Response:
    desk.signer.check(fields, "login")
    if not desk.limits.sign_in.allows(address_of(request)):
        raise HTTPException(429, "Too many attempts. Please wait a minute.")
    if not desk.gate.knows(fields.get("secret", "")):
        token = desk.signer.token("login")
        return page("login.html", 403, notice="That is not the secret.", token=token)
    response = RedirectResponse("/researcher", status_code=303)
    response.set_cookie(
        SESSION_COOKIE,
        desk.gate.open_session(),
        max_age=SESSION_SECONDS,
        path="/researcher",
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return response


@router.post("/logout", dependencies=POST)
def logout(fields: OwnForm) -> Response:
    response = RedirectResponse("/researcher", status_code=303)
    response.delete_cookie(SESSION_COOKIE, path="/researcher")
    return response


@router.post("/invite", dependencies=POST)
def new_links(desk: AtDesk, fields: OwnForm) -> Response:
    count = _number(fields, "count", MOST_LINKS)
    with desk.engine.begin() as connection:
        links = [f"{desk.url}/p/{link}" for link in invite(connection, desk.study, count)]
    return page("links.html", links=links)


@router.post("/delete", dependencies=POST)
def delete(desk: AtDesk, fields: OwnForm) -> Response:
    number = _number(fields, "number", 2**31 - 1)
    with desk.engine.begin() as connection:
        if not forget(connection, desk.study, number):
            raise HTTPException(404, f"There is no participant {number}.")
    fold_journal(desk.engine)
    return RedirectResponse("/researcher", status_code=303)


@router.get("/answers.csv", dependencies=SIGNED_IN)
def answers(desk: AtDesk) -> Response:
    with desk.engine.begin() as connection:
        rows = tidy_rows(connection, desk.study)
    return Response(
        as_csv(rows),
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{desk.study.name}.csv"'},
    )


@router.get("/preview", dependencies=SIGNED_IN)
def preview(desk: AtDesk) -> Response:
    blocks = [
        aid_values(block.aid)
        | {"name": block.name}
        | {"items": [item_values(block.aid, item) for item in (block.practice, *block.items)]}
        for block in desk.study.definition.blocks
    ]
    return page("preview.html", blocks=blocks)


def _session(request: Request) -> str:
    return request.cookies.get(SESSION_COOKIE, "")


def _number(fields: Fields, name: str, most: int) -> int:
    text = fields.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and 1 <= int(text) <= most):
        raise HTTPException(422, f"{name} must be a whole number, 1 … {most:,}.")
    return int(text)
