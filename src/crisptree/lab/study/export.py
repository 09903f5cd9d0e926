"""The answers as one tidy table, a row an answer.

    kind       question                  given               correct  score
    practice   0                         the action chosen   0, 1
    item       1 … n                     the action chosen   0, 1
    rating     the statement's name      1 … 7                        1 … 7, reversed ones turned
    question   the question's name       the answer
    comment                              the text

`seconds` is the time the analysis uses: from the first showing of the page to its answer, by the
browser's clock if the page was shown once, else by the server's (a reload or a second tab starts
the browser's clock anew). Ratings of one page share its time. Free text that a spreadsheet would
take for a formula has an apostrophe in front.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any, get_args, get_type_hints

from sqlalchemy import Connection

from crisptree.lab.study.definition import Block, Definition
from crisptree.lab.study.items import Item
from crisptree.lab.study.steps import Step, steps
from crisptree.lab.study.store import Answer, Participant, Study, all_answers, all_participants


@dataclass(frozen=True)
class Row:
    study: str
    participant: int
    simulated: bool
    finished: bool
    order: str
    aid: str | None
    aid_position: int | None
    kind: str
    question: str
    question_position: int | None
    state: str | None
    policy_takes: str | None
    given: str
    correct: int | None
    score: int | None
    seconds: float | None
    browser_seconds: float | None
    server_seconds: float | None
    away_seconds: float | None
    times_away: int | None
    times_shown: int
    answered_at: str


def tidy_rows(connection: Connection, study: Study) -> list[Row]:
    """Every answer of everybody who agreed to take part, unfinished people included."""
    people = {who.id: who for who in all_participants(connection, study)}
    rows = []
    for answer in all_answers(connection, study):
        who = people[answer.participant_id]
        sequence = steps(study.definition, who.plan)
        at = next((at for at, step in enumerate(sequence) if step.key == answer.step), None)
        if at is not None:
            rows += _rows(study, who, sequence, at, answer)
    return rows


def as_csv(rows: Sequence[Row]) -> str:
    """Comma-separated values with a header; what is unknown is empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([each.name for each in fields(Row)])
    for row in rows:
        writer.writerow(
            int(value) if isinstance(value, bool) else value for value in asdict(row).values()
        )
    return out.getvalue()


def as_parquet(rows: Sequence[Row]) -> bytes:
    """The same table as a Parquet file, with types."""
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


def _rows(
    study: Study, who: Participant, sequence: tuple[Step, ...], at: int, answer: Answer
) -> Iterator[Row]:
    definition, step = study.definition, sequence[at]
    common = _common(study, who, step, answer)
    match step.kind:
        case "practice" | "item":
            assert step.block is not None
            block = definition.blocks[step.block]
            item = block.practice if step.item is None else block.items[step.item]
            alike = [
                each.key for each in sequence if each.kind == "item" and each.block == step.block
            ]
            yield Row(
                **common,
                kind=step.kind,
                question=str(0 if step.item is None else step.item + 1),
                question_position=alike.index(step.key) + 1 if step.key in alike else 0,
                **_judged(block, item, answer.value["action"]),
                score=None,
            )
        case "ratings":
            yield from _ratings(definition, common, answer)
        case "closing":
            for name, given in answer.value["questions"].items():
                yield _free(common, "question", name, given)
            yield _free(common, "comment", "", answer.value["comment"])
        case _:
            return


def _ratings(definition: Definition, common: dict[str, Any], answer: Answer) -> Iterator[Row]:
    for at, statement in enumerate(definition.questionnaire.statements, start=1):
        rating = answer.value[statement.name]
        yield Row(
            **common,
            kind="rating",
            question=statement.name,
            question_position=at,
            state=None,
            policy_takes=None,
            given=str(rating),
            correct=None,
            score=statement.score(rating),
        )


def _common(study: Study, who: Participant, step: Step, answer: Answer) -> dict[str, Any]:
    names = [block.name for block in study.definition.blocks]
    order = [] if who.plan is None else list(who.plan.aids)
    browser, server = answer.browser_ms, None
    if answer.first_shown_at is not None:
        server = answer.stored_at - answer.first_shown_at
    used = browser if browser is not None and answer.times_shown == 1 else server
    log = answer.focus_log
    return {
        "study": study.name,
        "participant": who.number,
        "simulated": who.simulated,
        "finished": who.finished_at is not None,
        "order": ">".join(names[block] for block in order),
        "aid": None if step.block is None else names[step.block],
        "aid_position": None if step.block is None else order.index(step.block) + 1,
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


def _judged(block: Block, item: Item, action: int) -> dict[str, Any]:
    actions = block.aid.policy.action_names
    return {
        "state": " ".join(item.state),
        "policy_takes": actions[item.answer],
        "given": actions[action],
        "correct": int(action == item.answer),
    }


def _free(common: dict[str, Any], kind: str, question: str, given: str) -> Row:
    return Row(
        **common,
        kind=kind,
        question=question,
        question_position=None,
        state=None,
        policy_takes=None,
        given=f"'{given}" if given.startswith(("=", "+", "-", "@", "\t", "\r")) else given,
        correct=None,
        score=None,
    )


def _seconds(ms: int | None) -> float | None:
    return None if ms is None else ms / 1000
