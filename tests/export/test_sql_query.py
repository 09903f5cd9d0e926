import numpy as np
import pytest
from export_trees import EVERY, HOSTILE

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.export import as_sql, check
from crisptree.export.check import compare
from crisptree.export.expected import expected
from crisptree.export.sql_query import TABLE, _quotient, column_names, decider, quoted
from crisptree.export.states import states, with_missing

SMALL = CrispTree.from_nested(
    ("pole angle", 0.25, ("speed", -1e-07, "right", "left"), "left"),
    ("pole angle", "speed"),
    ("left", "right"),
)
QUERY = """\
-- The table observations has a column of numbers for each feature.
SELECT
  features.*,
  CASE
    WHEN x0 <= 2.5e-01 OR x0 IS NULL /* pole angle */ THEN
      0 /* left */
    WHEN x1 > -1.0e-07 /* speed */ THEN
      1 /* right */
    ELSE 0 /* left */
  END
  AS "action"
FROM (
  SELECT observations.*,
    CASE WHEN "pole angle" <= 0 OR -"pole angle" < 0 THEN "pole angle" END AS x0,
    CASE WHEN "speed" <= 0 OR -"speed" < 0 THEN "speed" END AS x1
  FROM observations
) AS features
"""


def test_the_query():
    assert as_sql(SMALL).text.endswith(QUERY)


@pytest.mark.parametrize("tree", EVERY.values(), ids=EVERY)
def test_sqlite_decides_as_the_tree(tree):
    for dtype in (np.float64, np.float32):
        assert check(tree, decider(as_sql(tree)), dtype, 2000) >= 2000


@pytest.mark.parametrize("tree", EVERY.values(), ids=EVERY)
def test_duckdb_decides_as_the_tree(tree):
    """Whose NaN is a number of its own, above all others."""
    duckdb = pytest.importorskip("duckdb")
    tried = states(tree, np.float64, 1000)
    tried = np.concatenate([tried, with_missing(tried)])
    query = as_sql(tree)
    engine = duckdb.connect()
    columns = [f"{quoted(name)} DOUBLE" for name in query.columns.values()]
    engine.execute(f"CREATE TABLE {TABLE} ({', '.join(['place BIGINT', *columns])})")
    numbers = tried[:, list(query.columns)]
    rows = {f"c{at}": column for at, column in enumerate(numbers.T)}
    engine.register("given", {"place": np.arange(len(tried)), **rows})
    engine.execute(f"INSERT INTO {TABLE} SELECT * FROM given")
    found = sorted(engine.execute(query.text).fetchall(), key=lambda row: row[0])
    wanted = expected(tree, tried)
    compare(tried, np.array([row[-len(query.results) :] for row in found]), wanted)


def test_hostile_and_clashing_names():
    names = ("x0", "X1", "x_2", "action", "Action", 'a"b', "row", "a\x00b")
    tree = CrispTree.from_nested((0, 0.5, 0, (3, 0.5, 1, (6, 0.1, 0, (7, 0.0, 1, 0)))), names, "pq")
    query = as_sql(tree)
    assert query.results == ("action 3",)
    assert check(tree, decider(query), np.float64, 500) >= 500
    assert "\x00" not in query.text and "x__0 >" in query.text
    assert check(HOSTILE, decider(as_sql(HOSTILE)), np.float64, 500) >= 500


def test_columns_differ_where_case_does_not_count():
    assert column_names(("a", "A", "a 2"), taken=("B",)) == ("a", "A 2", "a 2 2")


@pytest.mark.parametrize("value", [0.1, -0.1, 1e-300, 5e-324, 123456.789, 1 / 3, 2.0**60 + 2**10])
def test_a_quotient_is_the_number(value):
    text = _quotient(value)
    assert eval(text) == value
    for part in text.strip("()-").split(" / "):
        assert float(part) == int(part.removesuffix("e0") if "e0" in part else float(part))


def test_more_columns_than_sqlite_has():
    n = 2100
    nested: object = 0
    for at in range(n):
        nested = (at, 0.5, 1, nested)
    tree = CrispTree.from_nested(nested, [f"f{at}" for at in range(n)], "ab")
    with pytest.raises(CrisptreeError, match=r"SQLite cannot run .*--unchecked"):
        decider(as_sql(tree))(np.zeros((1, n)))
