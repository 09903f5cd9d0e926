import csv
import dataclasses
import io

import numpy as np
import pytest
from people import on, walk
from sqlalchemy import update
from starlette.testclient import TestClient

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.lab.study import make_drawing
from crisptree.lab.study.answer_table import Row, as_csv, as_parquet
from crisptree.lab.study.database import (
    all_participants,
    create_study,
    invite,
    open_engine,
    read_rows,
)
from crisptree.lab.study.database.schema import answers
from crisptree.lab.study.definition import define
from crisptree.lab.study.questionnaire import Questionnaire
from crisptree.lab.study.web import create_app


@pytest.fixture(scope="module")
def answered(tmp_path_factory, definition):
    """A study with one person's answers and half of another's; the tests only read it."""
    engine = open_engine(str(tmp_path_factory.mktemp("answered") / "only.db"))
    study = on(engine, create_study, "study", definition)
    app = create_app(engine, study, secret="a secret for tests", url="http://testserver")
    with TestClient(app, follow_redirects=False) as client:
        walk(client, *on(engine, invite, study, 1))
        walk(client, *on(engine, invite, study, 1, simulated=True), until="ratings-")
    yield engine, study
    engine.dispose()


@pytest.fixture(scope="module")
def rows(answered):
    engine, study = answered
    return on(engine, read_rows, study)


def test_one_row_an_answer(rows, answered):
    engine, study = answered
    one, two = on(engine, all_participants, study)
    own = [row for row in rows if row.participant == one.number]
    assert len(own) == 3 * (1 + 5 + 5) + 2 + 1
    assert {row.finished for row in own} == {True} and {row.simulated for row in own} == {False}
    other = [row for row in rows if row.participant == two.number]
    assert len(other) == 6
    assert {row.finished for row in other} == {False} and {row.simulated for row in other} == {True}
    names = [study.definition.blocks[at].name for at in one.assignment.blocks]
    assert {row.order for row in own} == {">".join(names)}
    for row in own:
        if row.policy is not None:
            assert row.policy_position == names.index(row.policy) + 1


def test_answers_are_judged_by_the_policy(rows, answered):
    _, study = answered
    for row in rows:
        if row.kind in ("item", "practice"):
            block = next(b for b in study.definition.blocks if b.name == row.policy)
            item = block.practice if row.question == "0" else block.items[int(row.question) - 1]
            assert row.state == " ".join(item.state)
            assert row.policy_takes == block.drawing.policy.action_names[item.answer[0]]
            assert row.correct == int(row.given == row.policy_takes)
    positions = [row.question_position for row in rows if row.kind == "item"]
    assert positions[:5] == [1, 2, 3, 4, 5]


def test_reversed_ratings_are_turned(rows):
    scores = {row.question: (row.given, row.score) for row in rows if row.kind == "rating"}
    assert scores["logic"] == ("5", 5) and scores["difficult"] == ("5", 3)


def test_csv_and_parquet_say_the_same(rows):
    import pyarrow.parquet

    table = list(csv.DictReader(io.StringIO(as_csv(rows))))
    assert list(table[0]) == list(Row.__dataclass_fields__)
    parquet = pyarrow.parquet.read_table(io.BytesIO(as_parquet(rows)))
    assert parquet.num_rows == len(table) == len(rows)
    for column in ("participant", "policy", "given", "score", "correct"):
        as_text = ["" if v is None else str(v) for v in parquet.column(column).to_pylist()]
        assert as_text == [row[column] for row in table]
    assert str(parquet.schema.field("seconds").type) == "double"
    assert str(parquet.schema.field("simulated").type) == "bool"


def test_nothing_is_a_table_too():
    assert as_csv([]).count("\n") == 1
    assert as_parquet([])[:4] == b"PAR1"


@pytest.mark.parametrize("text", ["=1+1", "+x", "-x", "@x", "\tx", "\rx", "\nx", "＝1", "-1+1"])
@pytest.mark.parametrize("column", ["given", "policy_takes", "order", "question", "study"])
def test_no_cell_is_a_formula(rows, column, text):
    row = dataclasses.replace(rows[0], **{column: text})
    (cells,) = csv.DictReader(io.StringIO(as_csv([row]), newline=""))
    assert cells[column] == f"'{text}".replace("\r", "\n")


@pytest.mark.parametrize("text", ["-0.12", "-0.12 0.30 -1", "-1e-05", "-0.5; 2", "x=1", "", "1-5"])
def test_numbers_and_plain_words_stay_as_they_are(rows, text):
    row = dataclasses.replace(rows[0], state=text, given=text)
    (cells,) = csv.DictReader(io.StringIO(as_csv([row])))
    assert cells["state"] == cells["given"] == text


def test_an_action_named_like_a_formula_is_escaped(sqlite_engine):
    """From the policy file to the CSV file."""
    tree = CrispTree.from_nested(("a", 0.1, 0, 1), ("a",), ("=cmd|'/C calc'!A0", "@SUM(1)"))
    states = np.random.default_rng(0).normal(size=(200, 1))
    drawings = [(make_drawing(tree, kind), states) for kind in ("tree", "list")]
    study = on(sqlite_engine, create_study, "study", define(drawings, Questionnaire(), 2, 0))
    app = create_app(sqlite_engine, study, secret="a secret for tests", url="http://x")
    (link,) = on(sqlite_engine, invite, study, 1)
    with TestClient(app, follow_redirects=False) as client:
        walk(client, link)
    text = as_csv(on(sqlite_engine, read_rows, study))
    items = [row for row in csv.DictReader(io.StringIO(text)) if row["kind"] == "item"]
    assert {row["given"] for row in items} == {"'=cmd|'/C calc'!A0"}
    assert {row["policy_takes"] for row in items} == {"'=cmd|'/C calc'!A0", "'@SUM(1)"}


@pytest.mark.parametrize("value", [{}, {"action": []}, {"action": ["x"]}, {"action": [7]}, [], 5])
def test_a_damaged_answer_is_named(answered, value):
    engine, study = answered
    with engine.connect() as connection:  # what is not committed is undone
        page = answers.c.page.startswith("item-")
        connection.execute(update(answers).where(page).values(value=value))
        with pytest.raises(CrisptreeError, match=r"participant 1's answer to item-.* is damaged"):
            read_rows(connection, study)
