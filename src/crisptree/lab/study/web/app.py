"""The web application: participants' pages, the researcher's pages, and what holds for all."""

from importlib.resources import files

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from sqlalchemy import Engine
from sqlalchemy.exc import IntegrityError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnection
from starlette.exceptions import HTTPException as AnyHTTPException
from starlette.staticfiles import StaticFiles

from crisptree.base.errors import CrisptreeError
from crisptree.lab.study.store import Study
from crisptree.lab.study.web import participant, researcher
from crisptree.lab.study.web.desk import Desk
from crisptree.lab.study.web.guard import SHORTEST_SECRET, FormSigner, ResearcherGate
from crisptree.lab.study.web.headers import SecurityHeaders
from crisptree.lab.study.web.rendering import message

TITLES = {404: "Not found", 429: "Please wait"}


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
    app.state.desk = Desk(
        engine,
        study,
        FormSigner(study.signing_key),
        ResearcherGate(secret, study.signing_key),
        url.rstrip("/"),
        open_link,
    )
    app.include_router(participant.router)
    app.include_router(researcher.router)
    app.mount("/static", StaticFiles(directory=str(files("crisptree.lab.study") / "static")))
    app.add_middleware(SecurityHeaders)

    @app.get("/")
    def nothing_here() -> Response:
        return message("A study", "To take part, use the link you were given.")

    @app.exception_handler(AnyHTTPException)
    def refused(request: Request, error: AnyHTTPException) -> Response:
        title = TITLES.get(error.status_code, "That did not work")
        return message(title, str(error.detail), error.status_code)

    @app.exception_handler(RequestValidationError)
    def not_understood(request: Request, error: RequestValidationError) -> Response:
        return message("That did not work", "This cannot be read.", 422)

    @app.exception_handler(IntegrityError)
    def deleted_meanwhile(request: Request, error: IntegrityError) -> Response:
        return message("That did not work", "This link is not valid any more.", 409)

    @app.exception_handler(OperationalError)
    @app.exception_handler(InterfaceError)
    @app.exception_handler(NoConnection)
    def database_away(request: Request, error: Exception) -> Response:
        text = "This could not be saved. Please try again in a moment; nothing else is lost."
        return message("Please try again", text, 503)

    return app
