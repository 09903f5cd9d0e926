"""Simulated people: they read a page as a browser would and send its form."""

import re
from dataclasses import dataclass
from html import unescape
from typing import Any


def on(engine: Any, function: Any, *arguments: Any, **options: Any) -> Any:
    """A function of the store in a transaction of its own."""
    with engine.begin() as connection:
        return function(connection, *arguments, **options)


@dataclass(frozen=True)
class Page:
    """What matters of a questionnaire page."""

    status: int
    text: str

    @property
    def address(self) -> str | None:
        found = re.search(r'<form method="post" action="([^"]+)"', self.text)
        return found and unescape(found[1])

    @property
    def key(self) -> str:
        assert self.address is not None
        return self.address.rsplit("/", 1)[1]

    @property
    def token(self) -> str:
        found = re.search(r'name="token" value="([^"]+)"', self.text)
        assert found
        return unescape(found[1])

    @property
    def code(self) -> str | None:
        found = re.search(r'class="code">([^<]+)<', self.text)
        return found and found[1]

    def names(self, prefix: str) -> list[str]:
        return sorted(set(re.findall(rf'name="({prefix}[^"]*)"', self.text)))


def read(client: Any, link: str) -> Page:
    reply = client.get(f"/p/{link}")
    return Page(reply.status_code, reply.text)


def filled_in(page: Page, action: int = 0, rating: int = 4) -> dict[str, str]:
    """A full form for whatever page this is."""
    fields = {"token": page.token}
    if page.key == "consent":
        fields["answer"] = "yes"
    elif page.key.startswith(("item-", "practice-")):
        fields |= {name: str(action) for name in page.names("action-")}
    elif page.key.startswith("ratings-"):
        fields |= {name: str(rating) for name in page.names("rating-")}
    elif page.key == "closing":
        fields["comment"] = "It was fine."
    return fields


def answer(client: Any, page: Page, **changes: str) -> Any:
    return client.post(page.address, data=filled_in(page) | changes)


def walk(client: Any, link: str, until: str | None = None) -> Page:
    """Answer page after page, to the end or to the first page whose key starts with `until`."""
    for _ in range(100):
        page = read(client, link)
        assert page.status == 200, page.text
        if page.code or (until and page.key.startswith(until)):
            return page
        assert answer(client, page).status_code == 303
    raise AssertionError("the questionnaire does not end")
