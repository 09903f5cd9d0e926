"""What a job is, and what is heard of it: see `executor`."""

from collections.abc import Callable
from typing import Any, NamedTuple

from crisptree.base.errors import CrisptreeError

Message = dict[str, Any]


class Job(NamedTuple):
    name: str
    function: str
    """`module:function`, called with the arguments and a Reporter."""
    arguments: dict[str, Any]
    log: str | None = None
    """A file for what the job prints; it is appended to."""


OnMessage = Callable[[str, Message], object]
"""Called with the job's name and what it says: {"advance": [stage, done, text]} or {"note": …}."""
Done = Callable[[str, Any], bool]
"""Called with a job's name and result; true ends the jobs that are still at work."""
OnError = Callable[[str, str], object]
"""Called with the name of a job that failed and one line that says why."""


class ProcessEndedError(CrisptreeError):
    """A job's process ended without an answer."""
