"""Many simulated people at once, who retry as the page's own script does when the server is away,
and remember every answer the server said it had saved."""

import asyncio
import random
from dataclasses import dataclass, field

import httpx2 as httpx
from people import Page, filled_in

SAVED = 303


@dataclass
class Crowd:
    url: str
    links: list[str]
    acknowledged: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    """By link and page, the fields whose saving was confirmed."""
    confirmed_twice: list[tuple[str, str]] = field(default_factory=list)
    retries: int = 0
    requests: int = 0

    async def take_part(self) -> None:
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
        async with (
            httpx.AsyncClient(base_url=self.url, limits=limits, timeout=60) as client,
            asyncio.TaskGroup() as together,
        ):
            for number, link in enumerate(self.links):
                together.create_task(self._person(client, link, random.Random(number)))

    async def _person(self, client: httpx.AsyncClient, link: str, rng: random.Random) -> None:
        while True:
            page = await self._until_answered(client, "GET", f"/p/{link}", rng)
            seen = Page(page.status_code, page.text)
            assert seen.status == 200, seen.text
            if seen.code:
                return
            fields = filled_in(seen, action=rng.randrange(2), rating=rng.randrange(7))
            if "comment" in fields:
                fields["comment"] = f"I am {rng.random()}"
            address = seen.address
            assert address is not None
            reply = await self._until_answered(client, "POST", address, rng, fields)
            assert reply.status_code == SAVED, (reply.status_code, reply.text)
            if (link, seen.key) in self.acknowledged:
                self.confirmed_twice.append((link, seen.key))
            self.acknowledged[link, seen.key] = fields

    async def _until_answered(
        self,
        client: httpx.AsyncClient,
        method: str,
        address: str,
        rng: random.Random,
        fields: dict[str, str] | None = None,
    ) -> httpx.Response:
        while True:
            self.requests += 1
            try:
                reply = await client.request(method, address, data=fields)
                if reply.status_code != 429 and reply.status_code < 500:
                    return reply
            except httpx.TransportError:
                pass
            self.retries += 1
            await asyncio.sleep(0.2 + rng.random())
