"""The web application: participants' pages, the researcher's pages, and what holds for all."""

from functools import partial
from importlib.resources import files

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from sqlalchemy import Engine
from sqlalchemy.exc import IntegrityError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnection
from starlette.exceptions import HTTPException as AnyHTTPException
from starlette.staticfiles import StaticFiles

from crisptree.base.errors import CrisptreeError
from crisptree.lab.study.records import Study
from crisptree.lab.study.web import participant_pages, researcher_pages
from crisptree.lab.study.web.context import AppContext
from crisptree.lab.study.web.rendering import message
from crisptree.lab.study.web.security import (
    SHORTEST_SECRET,
    FormSigner,
    SecurityHeaders,
    Sessions,
)

TITLES = {404: "Not found", 429: "Please wait"}
REFUSED = "That did not work"
AWAY = "This could not be saved. Please try again in a moment; nothing else is lost."
FAILURES: dict[type[Exception], tuple[int, str, str]] = {
    RequestValidationError: (422, REFUSED, "This cannot be read."),
    IntegrityError: (409, REFUSED, "This link is not valid any more."),  # deleted meanwhile
    CrisptreeError: (500, REFUSED, "Please tell the researcher: {}."),
    OperationalError: (503, "Please try again", AWAY),
    InterfaceError: (503, "Please try again", AWAY),
    NoConnection: (503, "Please try again", AWAY),
}


def create_app(
    engine: Engine, study: Study, *, secret: str, url: str, open_link: bool = True
) -> FastAPI:
    """The application for one study.

    Args:
        secret: opens the researcher's pages.
        url: where people reach the server, for the links it hands out.
        open_link: whether one link lets anybody who has it take part.
    """
    if len(secret) < SHORTEST_SECRET:
        raise CrisptreeError(f"the secret must have at least {SHORTEST_SECRET} characters")
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.state.context = AppContext(
        engine,
        study,
        FormSigner(study.signing_key),
        Sessions(engine, study, secret),
        url.rstrip("/"),
        open_link,
    )
    app.include_router(participant_pages.router)
    app.include_router(researcher_pages.router)
    app.mount("/static", StaticFiles(directory=str(files("crisptree.lab.study") / "static")))
    app.add_middleware(SecurityHeaders)

    @app.get("/")
    def nothing_here() -> Response:
        return message("A study", "To take part, use the link you were given.")

    @app.exception_handler(AnyHTTPException)
    def refused(request: Request, error: AnyHTTPException) -> Response:
        title = TITLES.get(error.status_code, REFUSED)
        return message(title, str(error.detail), error.status_code)

    for kind, (status, title, text) in FAILURES.items():
        app.add_exception_handler(kind, partial(_failed, status, title, text))
    return app


def _failed(status: int, title: str, text: str, request: Request, error: Exception) -> Response:
    return message(title, text.format(error), status)
