from concurrent.futures import ThreadPoolExecutor

import pytest
from people import on

from crisptree.lab.study.database import (
    all_answers,
    all_participants,
    answered_pages,
    invite,
    note_view,
    store_answer,
)
from crisptree.lab.study.page_sequence import CONSENT
from crisptree.lab.study.records import Timing


@pytest.fixture
def who(engine, study):
    on(engine, invite, study, 1)
    (who,) = on(engine, all_participants, study)
    return who


def test_of_many_answers_at_once_exactly_one_is_stored(engine, study, who):
    def send(number):
        return on(engine, store_answer, study, who, CONSENT, {"agreed": number}, None)

    with ThreadPoolExecutor(8) as pool:
        stored = list(pool.map(send, range(16)))
    assert stored.count(True) == 1
    assert on(engine, answered_pages, who) == {"consent": {"agreed": stored.index(True)}}


def test_pages_shown_are_counted_and_the_first_time_stays(engine, study, who):
    for _ in range(3):
        on(engine, note_view, who, CONSENT)
    on(engine, store_answer, study, who, CONSENT, {"agreed": True}, Timing(0, 0, []))
    (answer,) = on(engine, all_answers, study)
    assert answer.times_shown == 3
    assert answer.first_shown_at is not None and answer.first_shown_at <= answer.stored_at
    assert answer.browser_ms == 0


def test_a_time_longer_than_the_page_was_open_is_not_believed(engine, study, who):
    on(engine, note_view, who, CONSENT)
    on(engine, store_answer, study, who, CONSENT, {"agreed": True}, Timing(60_000, 0, []))
    (answer,) = on(engine, all_answers, study)
    assert (answer.browser_ms, answer.away_ms, answer.focus_log) == (None, None, None)


def test_a_page_never_shown_has_no_time(engine, study, who):
    on(engine, store_answer, study, who, CONSENT, {"agreed": True}, Timing(5, 0, []))
    (answer,) = on(engine, all_answers, study)
    assert (answer.first_shown_at, answer.times_shown, answer.browser_ms) == (None, 0, None)


def test_what_is_not_committed_is_not_there(engine, study, who):
    with pytest.raises(RuntimeError), engine.begin() as connection:
        store_answer(connection, study, who, CONSENT, {"agreed": True}, None)
        raise RuntimeError("the power fails")
    assert on(engine, all_answers, study) == []
    assert on(engine, all_participants, study)[0].assignment is None
