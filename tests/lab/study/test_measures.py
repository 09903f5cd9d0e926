from dataclasses import replace

import numpy as np
import pytest

from crisptree.lab.study.answer_table import Row
from crisptree.lab.study.measures import exclusion_rule, measure
from crisptree.lab.study.questionnaire import Statement

AIDS = ("tree", "mlp")
STATEMENTS = (Statement("good", "…"), Statement("bad", "…", reversed=True))
ROW = Row(
    study="s",
    participant=1,
    simulated=False,
    finished=True,
    order="tree>mlp",
    policy="tree",
    policy_position=1,
    kind="item",
    question="1",
    question_position=1,
    state="0.1",
    policy_takes="left",
    given="left",
    error=None,
    correct=1,
    score=None,
    seconds=2.0,
    browser_seconds=2.0,
    server_seconds=2.1,
    away_seconds=0.0,
    times_away=0,
    times_shown=1,
    answered_at="2020-01-01T00:00:00+00:00",
)


def person(number: int, **changes) -> list[Row]:
    rows = []
    for policy, seconds, right in (("tree", 2.0, (1, 1)), ("mlp", 5.0, (1, 0))):
        for at, correct in enumerate(right):
            rows.append(
                replace(
                    ROW,
                    policy=policy,
                    question=str(at + 1),
                    seconds=seconds + at,
                    correct=correct,
                )
            )
        for name, score in (("good", 6), ("bad", 3)):
            rows.append(replace(ROW, policy=policy, kind="rating", question=name, score=score))
        rows.append(replace(ROW, policy=policy, kind="practice", correct=0, seconds=99.0))
    return [replace(row, participant=number, **changes) for row in rows]


def test_tables_by_hand():
    found = measure([*person(4), *person(2)], AIDS, STATEMENTS)
    assert found.people == (2, 4) and found.n_items == 2 and not found.simulated
    assert found.accuracy.tolist() == [[1.0, 0.5]] * 2
    assert found.seconds.tolist() == [[5.0, 11.0]] * 2  # practice does not count
    assert found.rating.tolist() == [[4.5, 4.5]] * 2
    assert found.scores.shape == (2, 2, 2)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"finished": False}, "did not finish"),
        ({"away_seconds": 20.0}, "away for 80 seconds"),
        ({"seconds": None}, "never shown"),
        ({"seconds": 0.0}, "in no time"),
        ({"simulated": True}, "simulated"),
    ],
)
def test_who_is_left_out_and_why(changes, reason):
    found = measure([*person(1), *person(2, **changes)], AIDS, STATEMENTS)
    assert found.people == (1,)
    assert [each.participant for each in found.excluded] == [2]
    assert reason in found.excluded[0].reason


def test_the_rule_can_be_moved_and_is_always_said():
    rows = person(1, away_seconds=20.0)
    assert measure(rows, AIDS, STATEMENTS, 100.0).people == (1,)
    assert measure(rows, AIDS, STATEMENTS, 100.0).rule == exclusion_rule(100.0)
    assert "100 seconds" in exclusion_rule(100.0)


def test_only_simulated_people_are_marked_as_such():
    assert measure(person(1, simulated=True), AIDS, STATEMENTS).simulated


def test_nobody_is_a_table_too():
    found = measure([], AIDS, STATEMENTS)
    assert found.people == () and found.rating.shape == (0, 2)
    assert np.asarray(found.scores).shape == (0, 2, 2) and not found.simulated
