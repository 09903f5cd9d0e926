"""What the database holds, as plain records."""

from dataclasses import dataclass
from typing import Any

from crisptree.lab.study.definition import Definition
from crisptree.lab.study.page_sequence import Assignment


@dataclass(frozen=True)
class Study:
    id: int
    name: str
    definition: Definition
    signing_key: str
    """What forms are signed with. It outlives the server, so that pages open in people's
    browsers stay valid when the server is started again."""
    join_code: str


@dataclass(frozen=True)
class Participant:
    id: int
    number: int
    link_hash: str
    simulated: bool
    assignment: Assignment | None
    """None until the participant has agreed to take part."""
    begun_at: int | None
    finished_at: int | None
    completion_code: str | None


@dataclass(frozen=True)
class Timing:
    """What the browser measured for one page."""

    ms: int
    away_ms: int
    focus_log: list[list[Any]]
    """`[ms, "blur" | "focus"]`, from the moment the page was shown."""


@dataclass(frozen=True)
class Answer:
    participant_id: int
    page: str
    value: Any
    """What the page asked for, as JSON."""
    stored_at: int
    first_shown_at: int | None
    times_shown: int
    browser_ms: int | None
    away_ms: int | None
    focus_log: list[list[Any]] | None
