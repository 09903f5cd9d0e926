"""Jobs in processes of this machine, as many as cores, one XLA thread each.

Processes are spawned, not forked, and live on from job to job: JAX is imported once a process. A
process that dies takes only its own job with it, which another one then goes on with.
"""

import multiprocessing as mp
import os
import signal
import threading
import traceback
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import NamedTuple

from crisptree.base.processes import ONE_THREAD
from crisptree.lab.experiments.backend import Outcome
from crisptree.lab.experiments.worker import Job, work

ATTEMPTS = 3
"""How often a job is given out whose process dies."""


class Hand(NamedTuple):
    process: BaseProcess
    line: Connection


class LocalBackend:
    def __init__(self, n_processes: int) -> None:
        self._most = n_processes
        self._idle: list[Hand] = []
        self._busy: dict[Connection, tuple[Hand, Job]] = {}
        self._deaths: dict[str, int] = {}

    @property
    def room(self) -> int:
        return self._most - len(self._busy)

    def submit(self, job: Job) -> None:
        hand = self._idle.pop() if self._idle else _hired()
        self._busy[hand.line] = (hand, job)
        hand.line.send(job)

    def wait(self, seconds: float) -> list[Outcome]:
        outcomes = []
        for line in wait(list(self._busy), timeout=seconds):
            assert isinstance(line, Connection)
            hand, job = self._busy.pop(line)
            try:
                outcomes.append(Outcome(job, *line.recv()))
                self._idle.append(hand)
            except (EOFError, ConnectionResetError):
                outcomes += self._died(hand, job)
        return outcomes

    def _died(self, hand: Hand, job: Job) -> list[Outcome]:
        """Give the job to another process, unless it has killed several."""
        hand.process.join()
        hand.line.close()
        deaths = self._deaths[job.cell.key] = self._deaths.get(job.cell.key, 0) + 1
        if deaths < ATTEMPTS:
            self.submit(job)
            return []
        code = hand.process.exitcode
        return [Outcome(job, failure=f"its process ended {deaths} times, at last with code {code}")]

    def close(self) -> None:
        for hand in [*self._idle, *(hand for hand, _ in self._busy.values())]:
            hand.process.kill()
            hand.process.join()
            hand.line.close()
        self._idle, self._busy = [], {}


def _hired() -> Hand:
    context = mp.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    before = dict(os.environ)
    os.environ.update(ONE_THREAD)  # inherited: XLA reads it when it is first imported
    try:
        process.start()
    finally:
        os.environ.clear()
        os.environ.update(before)
    theirs.close()
    return Hand(process, ours)


def _serve(line: Connection) -> None:
    """Jobs from the line, one after the other, until it is cut or the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    threading.Thread(target=_die_with_parent, daemon=True).start()
    while True:
        try:
            job = line.recv()
        except (EOFError, OSError):
            return
        try:
            line.send((work(job), None))
        except Exception:
            line.send((None, traceback.format_exc()))


def _die_with_parent() -> None:
    """However the parent ends, nothing of it goes on."""
    parent = mp.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)
