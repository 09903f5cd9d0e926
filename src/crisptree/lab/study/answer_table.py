"""The answers as one tidy table, one row for each answer.

    kind       question                  given               correct  score
    practice   0                         the action given    0, 1
    item       1 … n                     the action given    0, 1
    rating     the statement's name      1 … 7                        1 … 7, reversed ones turned
    question   the question's name       the answer
    comment                              the text

`seconds` is the time the analysis uses: from the first showing of the page to its answer, by the
browser's clock if the page was shown once, else by the server's (a reload or a second tab starts
the browser's clock anew). Ratings of one page share its time. `error` is how far a number is off.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any, get_args, get_type_hints

from crisptree.base.errors import CrisptreeError
from crisptree.lab.study.action_fields import Value
from crisptree.lab.study.definition import Block
from crisptree.lab.study.page_sequence import Page, page_sequence
from crisptree.lab.study.records import Answer, Participant, Study

FORMULA_STARTS = tuple("=+-@\t\n＝＋－＠")
NUMBERS = re.compile(r"NUM(;? NUM)*".replace("NUM", r"-?\d+(\.\d+)?(e[+-]\d+)?"))
"""One number or several: text that starts with a minus sign but is no formula."""


@dataclass(frozen=True)
class Row:
    study: str
    participant: int
    simulated: bool
    finished: bool
    order: str
    policy: str | None
    policy_position: int | None
    kind: str
    question: str
    question_position: int | None
    state: str | None
    policy_takes: str | None
    given: str
    correct: int | None
    error: float | None
    score: int | None
    seconds: float | None
    browser_seconds: float | None
    server_seconds: float | None
    away_seconds: float | None
    times_away: int | None
    times_shown: int
    answered_at: str


def answer_rows(
    study: Study, participants: Sequence[Participant], answers: Sequence[Answer]
) -> list[Row]:
    """Every answer of everybody who agreed to take part, unfinished people included."""
    people = {who.id: who for who in participants}
    rows = []
    for answer in answers:
        who = people[answer.participant_id]
        pages = page_sequence(study.definition, who.assignment)
        page = next((page for page in pages if page.key == answer.page), None)
        if page is not None:
            try:
                common = _common(study, who, page, answer)
                rows += [Row(**common | own) for own in _answered(study, pages, page, answer.value)]
            except (KeyError, IndexError, TypeError, ValueError, AttributeError):
                raise CrisptreeError(
                    f"participant {who.number}'s answer to {page.key} is damaged in the database"
                ) from None
    return rows


def as_csv(rows: Sequence[Row]) -> str:
    """Comma-separated values with a header; unknown values are empty. Text that a spreadsheet would
    take for a formula gets an apostrophe in front."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([each.name for each in fields(Row)])
    for row in rows:
        writer.writerow(map(_cell, asdict(row).values()))
    return out.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    if not isinstance(value, str):
        return value
    # A line break of the old kind would end the row in some spreadsheets.
    text = value.replace("\r\n", "\n").replace("\r", "\n")
    is_formula = text.startswith(FORMULA_STARTS) and not NUMBERS.fullmatch(text)
    return f"'{text}" if is_formula else text


def as_parquet(rows: Sequence[Row]) -> bytes:
    """The same table as a Parquet file, with types and with every text as it is."""
    import pyarrow
    import pyarrow.parquet

    types = {
        str: pyarrow.string(),
        int: pyarrow.int64(),
        float: pyarrow.float64(),
        bool: pyarrow.bool_(),
    }
    columns = {name: (*get_args(kind), kind)[0] for name, kind in get_type_hints(Row).items()}
    schema = pyarrow.schema([(name, types[kind]) for name, kind in columns.items()])
    table = pyarrow.Table.from_pylist([asdict(row) for row in rows], schema=schema)
    out = io.BytesIO()
    pyarrow.parquet.write_table(table, out)
    return out.getvalue()


def _common(study: Study, who: Participant, page: Page, answer: Answer) -> dict[str, Any]:
    """The columns that all rows of an answer share, and empty ones for those they do not."""
    names = [block.name for block in study.definition.blocks]
    order = [] if who.assignment is None else list(who.assignment.blocks)
    browser, server = answer.browser_ms, None
    if answer.first_shown_at is not None:
        server = answer.stored_at - answer.first_shown_at
    used = browser if browser is not None and answer.times_shown == 1 else server
    log = answer.focus_log
    return {
        **dict.fromkeys(("question_position", "state", "policy_takes", "correct", "error")),
        "score": None,
        "study": study.name,
        "participant": who.number,
        "simulated": who.simulated,
        "finished": who.finished_at is not None,
        "order": ">".join(names[block] for block in order),
        "policy": None if page.block is None else names[page.block],
        "policy_position": None if page.block is None else order.index(page.block) + 1,
        "seconds": _seconds(used),
        "browser_seconds": _seconds(browser),
        "server_seconds": _seconds(server),
        "away_seconds": _seconds(answer.away_ms),
        "times_away": None if log is None else sum(what == "blur" for _, what in log),
        "times_shown": answer.times_shown,
        "answered_at": datetime.fromtimestamp(answer.stored_at / 1000, UTC).isoformat(
            timespec="milliseconds"
        ),
    }


def _answered(
    study: Study, pages: tuple[Page, ...], page: Page, value: Any
) -> Iterator[dict[str, Any]]:
    """The columns of each row that an answer makes, besides those that all share."""
    if page.kind in ("practice", "item"):
        assert page.block is not None
        same = [each for each in pages if each.kind == "item" and each.block == page.block]
        yield {
            "kind": page.kind,
            "question": "0" if page.item is None else str(page.item + 1),
            "question_position": 0 if page.item is None else same.index(page) + 1,
            **_judged(study.definition.blocks[page.block], page, value["action"]),
        }
    elif page.kind == "ratings":
        for at, statement in enumerate(study.definition.questionnaire.statements, start=1):
            rating = value[statement.name]
            yield {
                "kind": "rating",
                "question": statement.name,
                "question_position": at,
                "given": str(rating),
                "score": statement.score(rating),
            }
    elif page.kind == "closing":
        for name, given in value["questions"].items():
            yield {"kind": "question", "question": name, "given": given}
        yield {"kind": "comment", "question": "", "given": value["comment"]}


def _judged(block: Block, page: Page, given: Sequence[Value]) -> dict[str, Any]:
    item = block.practice if page.item is None else block.items[page.item]
    parts = list(zip(block.fields, given, item.answer, strict=True))
    numbers = [abs(mine - right) for field, mine, right in parts if not field.choices]
    return {
        "state": " ".join(item.state),
        "policy_takes": "; ".join(field.text(right) for field, _, right in parts),
        "given": "; ".join(
            field.text(mine) if field.choices else f"{mine:g}" for field, mine, _ in parts
        ),
        "correct": int(all(field.is_right(mine, right) for field, mine, right in parts)),
        "error": max(numbers, default=None),
    }


def _seconds(ms: int | None) -> float | None:
    return None if ms is None else ms / 1000
