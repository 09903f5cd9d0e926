"""Who may do what: signed forms for participants, a secret and a session for the researcher."""

import hashlib
import hmac
from urllib.parse import urlsplit

from fastapi import HTTPException, Request
from itsdangerous import BadSignature, Signer, TimestampSigner

from crisptree.lab.study.web.forms import Fields

SESSION_COOKIE = "crisptree_researcher"
SESSION_SECONDS = 12 * 3600
SHORTEST_SECRET = 12


class FormSigner:
    """Gives each form a token that fits this study, this person and this page only."""

    def __init__(self, signing_key: str) -> None:
        self._signer = Signer(signing_key, salt="form", digest_method=hashlib.sha256)

    def token(self, *purpose: str) -> str:
        return self._signer.get_signature("|".join(purpose)).decode()

    def check(self, fields: Fields, *purpose: str) -> None:
        """Take the token out of the fields; refuse a form without the right one."""
        if not hmac.compare_digest(fields.pop("token", "").encode(), self.token(*purpose).encode()):
            raise HTTPException(403, "This form was not made for you. Please reload the page.")


class ResearcherGate:
    """Opens to those who know the secret given when the server was started."""

    def __init__(self, secret: str, signing_key: str) -> None:
        self._secret = secret.encode()
        # A new secret ends the sessions opened with the old one.
        key = hmac.digest(secret.encode(), signing_key.encode(), "sha256")
        self._signer = TimestampSigner(key, salt="researcher", digest_method=hashlib.sha256)

    def knows(self, secret: str) -> bool:
        mine = hashlib.sha256(self._secret).digest()
        return hmac.compare_digest(hashlib.sha256(secret.encode()).digest(), mine)

    def open_session(self) -> str:
        return self._signer.sign("researcher").decode()

    def is_open(self, request: Request) -> bool:
        try:
            said = self._signer.unsign(
                request.cookies.get(SESSION_COOKIE, ""), max_age=SESSION_SECONDS
            )
        except BadSignature:
            return False
        return said == b"researcher"


def same_site(request: Request) -> None:
    """Refuse what another site's page sends with a visitor's browser."""
    if request.headers.get("sec-fetch-site") in ("cross-site", "same-site"):
        raise HTTPException(403, "This form comes from another site.")
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        raise HTTPException(403, "This form comes from another site.")
