"""Many people take part at once while the server and the database are killed: what was lost?"""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2 as httpx
from crowd import Crowd
from people import on

from crisptree.lab.study.database import (
    all_answers,
    all_participants,
    create_study,
    invite,
    open_engine,
)
from crisptree.lab.study.definition import Definition
from crisptree.lab.study.page_sequence import Assignment, page_sequence

STARTS_WITHIN_S = 240
SECRET = "a secret for tests"


class KillableServer:
    """`crisptree study serve` as a process of its own."""

    def __init__(self, database: str, log: Any) -> None:
        self._database, self._log = database, log
        self.port = 0
        self.start()

    def start(self) -> None:
        options = ["--database", self._database, "--port", str(self.port)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "crisptree.cli", "study", "serve", *options],
            env={**os.environ, "CRISPTREE_STUDY_SECRET": SECRET},
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("researcher:"):
                self.port = int(line.split(":")[3].split("/")[0])
                break
        self.url = f"http://127.0.0.1:{self.port}"
        until = time.monotonic() + STARTS_WITHIN_S
        while True:
            try:
                assert httpx.get(self.url).status_code == 200
                return
            except httpx.TransportError:
                assert time.monotonic() < until and self._process.poll() is None
                time.sleep(0.05)

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def kill_and_start(self) -> None:
        self.kill()
        self.start()


@dataclass(frozen=True)
class LoadResult:
    people: int
    finished: int
    confirmed: int
    """Answers that the server said it had saved."""
    lost: int
    """Those of them that are not in the database, or are others."""
    repeated: int
    """Answers stored or confirmed more than once."""
    unbalanced: int
    """By how much the orders differ in how often they were given, beyond one."""
    kills: int
    requests: int
    retries: int
    seconds: float


def load_run(
    database: str,
    definition: Definition,
    n_people: int,
    directory: Path,
    kills: Sequence[Callable[[KillableServer], None]],
    within_s: float = 1200.0,
) -> LoadResult:
    """Let simulated people answer everything, or what they can in that time; after equal shares
    of the answers, call each kill."""
    engine = open_engine(database)
    study = on(engine, create_study, "study", definition)
    links = on(engine, invite, study, n_people, simulated=True)
    first = on(engine, all_participants, study)[0].id
    began = time.monotonic()
    with open(directory / "server.log", "w") as log:
        server = KillableServer(database, log)
        try:
            crowd = Crowd(server.url, links)
            expected = n_people * n_pages(definition)
            killed = asyncio.run(_take_part(crowd, server, kills, expected, within_s))
        finally:
            server.kill()
    seconds = time.monotonic() - began
    stored = on(engine, all_answers, study)
    by_key = {(links[each.participant_id - first], each.page): each.value for each in stored}
    people = on(engine, all_participants, study)
    engine.dispose()
    confirmed = crowd.acknowledged.items()
    orders = [who.assignment.blocks for who in people if who.assignment]
    counts = [orders.count(order) for order in set(orders)]
    return LoadResult(
        people=n_people,
        finished=sum(who.finished_at is not None for who in people),
        confirmed=len(confirmed),
        lost=sum(by_key.get(key) != _stored_value(definition, sent) for key, sent in confirmed),
        repeated=len(crowd.confirmed_twice) + len(stored) - len(by_key),
        unbalanced=max(0, max(counts) - min(counts) - 1),
        kills=killed,
        requests=crowd.requests,
        retries=crowd.retries,
        seconds=round(seconds, 1),
    )


def n_pages(definition: Definition) -> int:
    """How many pages one participant answers."""
    n = len(definition.blocks)
    assignment = Assignment(tuple(range(n)), (tuple(range(definition.n_items)),) * n)
    return len(page_sequence(definition, assignment))


async def _take_part(
    crowd: Crowd,
    server: KillableServer,
    kills: Sequence[Callable[[KillableServer], None]],
    expected: int,
    within_s: float,
) -> int:
    """How many kills there were before everybody had finished or the time was over."""
    everybody = asyncio.create_task(crowd.take_part())
    killed, until = 0, time.monotonic() + within_s
    while not everybody.done() and time.monotonic() < until:
        await asyncio.wait([everybody], timeout=0.02)
        share = expected * (killed + 1) // (len(kills) + 1)
        if killed < len(kills) and len(crowd.acknowledged) >= share:
            await asyncio.to_thread(kills[killed], server)
            killed += 1
    everybody.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await everybody
    return killed


def _stored_value(definition: Definition, fields: dict[str, str]) -> dict[str, Any]:
    """What the database should hold for a form's fields."""
    if "action-0" in fields:
        return {"action": [int(fields["action-0"])]}
    if "comment" in fields:
        names = [question.name for question in definition.questionnaire.questions]
        return {"comment": fields["comment"], "questions": dict.fromkeys(names, "")}
    if "answer" in fields:
        return {"agreed": True}
    ratings = {name: value for name, value in fields.items() if name.startswith("rating-")}
    if ratings:
        return {name.removeprefix("rating-"): int(value) + 1 for name, value in ratings.items()}
    return {"read": True}
