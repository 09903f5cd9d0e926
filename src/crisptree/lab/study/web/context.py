"""What every page needs: the database, the study, the signer, the sessions and the limits."""

from dataclasses import dataclass, field
from typing import Annotated, NoReturn

from fastapi import Depends, HTTPException, Request
from sqlalchemy import Connection, Engine

from crisptree.lab.study.database import find_by_link
from crisptree.lab.study.records import Participant, Study
from crisptree.lab.study.web.security import FormSigner, RateLimit, Sessions

TOO_FAST = "That was too fast. Please wait a moment and try again."
UNKNOWN = "This link does not belong to a study here. Please check that it is complete."


@dataclass(frozen=True)
class Limits:
    """Participants are limited one by one, so that a class behind one address can take part."""

    participant: RateLimit = field(default_factory=lambda: RateLimit(burst=120, per_second=5.0))
    stranger: RateLimit = field(default_factory=lambda: RateLimit(burst=20, per_second=0.2))
    newcomer: RateLimit = field(default_factory=lambda: RateLimit(burst=60, per_second=1.0))
    sign_in: RateLimit = field(default_factory=lambda: RateLimit(burst=5, per_second=0.1))


@dataclass(frozen=True)
class AppContext:
    engine: Engine
    study: Study
    signer: FormSigner
    sessions: Sessions
    url: str
    """Where people reach the server, for the links it hands out."""
    open_link: bool
    """Whether one link lets anybody who has it take part."""
    limits: Limits = field(default_factory=Limits)

    def participant(self, connection: Connection, link: str, request: Request) -> Participant:
        """The participant whose link it is.

        Strangers are turned away, and slowed down when they keep guessing.
        """
        found = find_by_link(connection, self.study, link)
        if found is None:
            self.turn_away(request)
        if not self.limits.participant.allows(found.link_hash):
            raise HTTPException(429, TOO_FAST)
        return found

    def turn_away(self, request: Request) -> NoReturn:
        if not self.limits.stranger.allows(address_of(request)):
            raise HTTPException(429, TOO_FAST)
        raise HTTPException(404, UNKNOWN)


def app_context(request: Request) -> AppContext:
    return request.app.state.context


def address_of(request: Request) -> str:
    return request.client.host if request.client else "unknown"


Context = Annotated[AppContext, Depends(app_context)]
