import csv
import io

import pytest
from people import on, walk

from crisptree.lab.study.export import Row, as_csv, as_parquet, tidy_rows
from crisptree.lab.study.store import all_participants, invite


@pytest.fixture
def rows(sqlite_client, sqlite_engine, sqlite_study):
    (link,) = on(sqlite_engine, invite, sqlite_study, 1)
    walk(sqlite_client, link)
    (second,) = on(sqlite_engine, invite, sqlite_study, 1, simulated=True)
    walk(sqlite_client, second, until="ratings-")
    return on(sqlite_engine, tidy_rows, sqlite_study)


def test_one_row_an_answer(rows, sqlite_engine, sqlite_study):
    one, two = on(sqlite_engine, all_participants, sqlite_study)
    own = [row for row in rows if row.participant == one.number]
    assert len(own) == 3 * (1 + 5 + 5) + 2 + 1
    assert {row.finished for row in own} == {True} and {row.simulated for row in own} == {False}
    other = [row for row in rows if row.participant == two.number]
    assert len(other) == 6
    assert {row.finished for row in other} == {False} and {row.simulated for row in other} == {True}
    names = [sqlite_study.definition.blocks[at].name for at in one.plan.aids]
    assert {row.order for row in own} == {">".join(names)}
    for row in own:
        if row.aid is not None:
            assert row.aid_position == names.index(row.aid) + 1


def test_answers_are_judged_by_the_policy(rows, sqlite_study):
    for row in rows:
        if row.kind in ("item", "practice"):
            block = next(b for b in sqlite_study.definition.blocks if b.name == row.aid)
            item = block.practice if row.question == "0" else block.items[int(row.question) - 1]
            assert row.state == " ".join(item.state)
            assert row.policy_takes == block.aid.policy.action_names[item.answer]
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
    for column in ("participant", "aid", "given", "score", "correct"):
        as_text = ["" if v is None else str(v) for v in parquet.column(column).to_pylist()]
        assert as_text == [row[column] for row in table]
    assert str(parquet.schema.field("seconds").type) == "double"
    assert str(parquet.schema.field("simulated").type) == "bool"


def test_nothing_is_a_table_too():
    assert as_csv([]).count("\n") == 1
    assert as_parquet([])[:4] == b"PAR1"


@pytest.mark.parametrize("text", ["=1+1", "+x", "-x", "@x", "\tx"])
def test_a_comment_is_no_formula(sqlite_client, sqlite_engine, sqlite_study, text):
    from people import answer

    (link,) = on(sqlite_engine, invite, sqlite_study, 1)
    page = walk(sqlite_client, link, until="closing")
    answer(sqlite_client, page, comment=f"x{text}", **{"question-job": text.strip() or "x"})
    rows = on(sqlite_engine, tidy_rows, sqlite_study)
    given = {row.question: row.given for row in rows if row.kind == "question"}
    assert not given["job"].startswith(("=", "+", "-", "@", "\t"))
