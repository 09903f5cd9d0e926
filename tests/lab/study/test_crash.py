"""The server is killed in the middle: what it said was saved is there, and once only."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time

import httpx2 as httpx
import pytest
from crowd import Crowd
from people import on

from crisptree.lab.study.store import (
    all_answers,
    all_participants,
    create_study,
    invite,
    open_engine,
)

STARTS_WITHIN_S = 60
SECRET = "a secret for tests"


class Killable:
    """`crisptree study serve` as a process of its own."""

    def __init__(self, database: str, log) -> None:
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


async def in_the_middle(crowd: Crowd, server: Killable, at: list[int]) -> None:
    """Kill the server each time so many answers are saved, and start it again."""
    for saved in at:
        while len(crowd.acknowledged) < saved:
            await asyncio.sleep(0.01)
        server.kill()
        await asyncio.to_thread(server.start)


async def everything(crowd: Crowd, server: Killable, kills: list[int]) -> None:
    await asyncio.gather(crowd.take_part(), in_the_middle(crowd, server, kills))


def stored_value(fields: dict[str, str]) -> dict:
    """What the database should hold for a form's fields."""
    if "action" in fields:
        return {"action": int(fields["action"])}
    if "comment" in fields:
        return {"comment": fields["comment"], "questions": {"code": "", "job": ""}}
    if "answer" in fields:
        return {"agreed": True}
    ratings = {name: value for name, value in fields.items() if name.startswith("rating-")}
    if ratings:
        return {name.removeprefix("rating-"): int(value) + 1 for name, value in ratings.items()}
    return {"read": True}


def crash_test(database: str, definition, n_people: int, tmp_path, kills: int) -> dict:
    engine = open_engine(database)
    study = on(engine, create_study, "study", definition)
    links = on(engine, invite, study, n_people, simulated=True)
    people = on(engine, all_participants, study)
    began = time.monotonic()
    n_answers = 27 * n_people
    with open(tmp_path / "server.log", "w") as log:
        server = Killable(database, log)
        try:
            crowd = Crowd(server.url, links)
            points = [n_answers * (at + 1) // (kills + 1) for at in range(kills)]
            asyncio.run(everything(crowd, server, points))
        finally:
            server.kill()
    seconds = time.monotonic() - began
    by_key = {
        (links[people_at], answer.step): answer
        for answer in on(engine, all_answers, study)
        for people_at in [answer.participant_id - people[0].id]
    }
    stored = on(engine, all_answers, study)
    finished = [who for who in on(engine, all_participants, study) if who.finished_at]
    engine.dispose()
    assert len(stored) == len(by_key) == n_answers
    assert len(crowd.acknowledged) == n_answers
    for key, fields in crowd.acknowledged.items():
        assert by_key[key].value == stored_value(fields), key
    assert crowd.confirmed_twice == []
    assert len(finished) == n_people
    rows = [who.plan.aids for who in finished if who.plan]
    counts = {row: rows.count(row) for row in set(rows)}
    assert max(counts.values()) - min(counts.values()) <= 1
    return {
        "people": n_people,
        "answers": n_answers,
        "requests": crowd.requests,
        "retries": crowd.retries,
        "seconds": round(seconds, 1),
        "requests_per_second": round(crowd.requests / seconds, 1),
    }


def test_six_people_and_a_kill(database, definition, tmp_path):
    crash_test(database, definition, 6, tmp_path, kills=1)


@pytest.mark.slow
def test_two_hundred_people_and_two_kills(cluster, definition, tmp_path):
    found = crash_test(cluster.new_database(), definition, 200, tmp_path, kills=2)
    print(json.dumps(found))
