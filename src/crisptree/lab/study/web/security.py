"""Access: signed forms, the researcher's sessions, rate limits and response headers."""

import hashlib
import hmac
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from fastapi import HTTPException, Request
from sqlalchemy import Engine
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crisptree.lab.study.database import close_session, open_session, session_is_open
from crisptree.lab.study.records import Study
from crisptree.lab.study.web.forms import Fields

SESSION_COOKIE = "crisptree_researcher"
SESSION_SECONDS = 12 * 3600
SHORTEST_SECRET = 12
MOST_KEYS = 20_000

HEADERS = {
    # Nothing from elsewhere, no frames, no caches.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Addresses hold the participants' secret links. (With "no-referrer" browsers would leave the
    # origin out of a form post too, which the server wants to see.)
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
    "X-Robots-Tag": "noindex, nofollow",
}


class SecurityHeaders:
    """Middleware that puts the headers on every response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        await self._app(scope, receive, with_headers if scope["type"] == "http" else send)


class FormSigner:
    """Gives each form a token that fits this study, this person and this page only."""

    def __init__(self, signing_key: str) -> None:
        self._key = signing_key.encode()

    def token(self, *purpose: str) -> str:
        return hmac.digest(self._key, "|".join(("form", *purpose)).encode(), "sha256").hex()

    def check(self, fields: Fields, *purpose: str) -> None:
        """Take the token out of the fields; refuse a form without the right one."""
        if not hmac.compare_digest(fields.pop("token", "").encode(), self.token(*purpose).encode()):
            raise HTTPException(403, "This form was not made for you. Please reload the page.")


class Sessions:
    """The researcher's sessions, opened with the secret and kept in the database until sign-out.

    The database holds a digest of each session's token, made with the secret: a copy of the
    database opens no session, and a new secret ends those opened with the old one.
    """

    def __init__(self, engine: Engine, study: Study, secret: str) -> None:
        self._engine, self._study, self._secret = engine, study, secret.encode()

    def knows(self, secret: str) -> bool:
        """Whether this is the secret, compared in constant time."""
        mine = hashlib.sha256(self._secret).digest()
        return hmac.compare_digest(hashlib.sha256(secret.encode()).digest(), mine)

    def open(self) -> str:
        """A new session's token."""
        token = secrets.token_urlsafe(24)
        with self._engine.begin() as connection:
            open_session(connection, self._study, self._hash(token), SESSION_SECONDS * 1000)
        return token

    def is_open(self, token: str) -> bool:
        if not token:
            return False
        with self._engine.begin() as connection:
            return session_is_open(
                connection, self._study, self._hash(token), SESSION_SECONDS * 1000
            )

    def close(self, token: str) -> None:
        with self._engine.begin() as connection:
            close_session(connection, self._hash(token))

    def _hash(self, token: str) -> str:
        return hmac.digest(self._secret, f"session|{token}".encode(), "sha256").hex()


class RateLimit:
    """For each key: `burst` requests at once and `per_second` in the long run, kept in memory."""

    def __init__(
        self, burst: int, per_second: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._burst, self._per_second, self._clock = burst, per_second, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def allows(self, key: str) -> bool:
        """Take a token from the key's bucket, if there is one."""
        with self._lock:
            now = self._clock()
            left, since = self._buckets.pop(key, (float(self._burst), now))
            left = min(self._burst, left + (now - since) * self._per_second)
            allowed = left >= 1
            self._buckets[key] = (left - 1 if allowed else left, now)
            if len(self._buckets) > MOST_KEYS:
                self._buckets.popitem(last=False)  # the key unused for longest
            return allowed


def same_site(request: Request) -> None:
    """Refuse what another site's page sends with a visitor's browser."""
    if request.headers.get("sec-fetch-site") in ("cross-site", "same-site"):
        raise HTTPException(403, "This form comes from another site.")
    origin, host = request.headers.get("origin"), request.headers.get("host")
    if origin is not None and origin.partition("://")[2] != host:
        raise HTTPException(403, "This form comes from another site.")
