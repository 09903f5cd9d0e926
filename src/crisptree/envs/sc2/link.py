"""Requests to the game and its answers, one at a time, over burnysc2's protocol layer."""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

from loguru import logger
from s2clientprotocol import sc2api_pb2 as api
from sc2.protocol import Protocol, ProtocolError

from crisptree.base.errors import CrisptreeError

Opening = Callable[[AsyncExitStack], Awaitable[Any]]
"""Gives a websocket (`send_bytes`, `receive_bytes`), and leaves on the stack what closes it."""


class _Peer(Protocol):
    async def ask(self, **request: Any) -> api.Response:
        return await self._execute(**request)


class Link:
    """A connection that is used from ordinary, synchronous code."""

    def __init__(self, opening: Opening) -> None:
        logger.disable("sc2")
        self._loop = asyncio.new_event_loop()
        self._stack = AsyncExitStack()
        self._peer = _Peer(self._loop.run_until_complete(opening(self._stack)))

    def ask(self, **request: Any) -> api.Response:
        """The answer to one request, given by its name in `sc2api.proto`."""
        (name,) = request
        try:
            response = self._loop.run_until_complete(self._peer.ask(**request))
        except ProtocolError as error:
            raise CrisptreeError(f"StarCraft II refused {name}: {error}") from error
        answer = getattr(response, name)
        # Some answers carry an error of their own beside the response's.
        if "error" in answer.DESCRIPTOR.fields_by_name and answer.HasField("error"):
            why = answer.error_details or answer.error
            raise CrisptreeError(f"StarCraft II refused {name}: {why}")
        return response

    def close(self) -> None:
        if not self._loop.is_closed():
            self._loop.run_until_complete(self._stack.aclose())
            self._loop.close()


async def launch(stack: AsyncExitStack) -> Any:
    """Start the game itself."""
    from sc2.sc2process import SC2Process

    # burnysc2 takes Ctrl-C for itself and hands it back to the system, not to us.
    interrupt = signal.getsignal(signal.SIGINT)
    stack.callback(signal.signal, signal.SIGINT, interrupt)
    controller = await stack.enter_async_context(SC2Process())
    signal.signal(signal.SIGINT, interrupt)
    return controller._ws
