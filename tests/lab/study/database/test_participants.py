from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from people import on

from crisptree.lab.study.database import (
    all_answers,
    all_participants,
    create_study,
    delete_participant,
    find_by_link,
    invite,
    store_answer,
    truncate_journal,
)
from crisptree.lab.study.database.participants import hash_of
from crisptree.lab.study.page_sequence import CONSENT, Page


def agree(engine, study, who):
    return on(engine, store_answer, study, who, CONSENT, {"agreed": True}, None)


def test_links_are_unguessable_stored_nowhere_and_numbered(engine, study, database):
    links = on(engine, invite, study, 3) + on(engine, invite, study, 2)
    assert len(set(links)) == 5 and all(len(link) == 32 for link in links)
    people = on(engine, all_participants, study)
    assert [who.number for who in people] == [1, 2, 3, 4, 5]
    assert [who.link_hash for who in people] == [hash_of(link) for link in links]
    if Path(database).exists():
        truncate_journal(engine)
        assert links[0].encode() not in Path(database).read_bytes()


def test_a_link_opens_its_own_study_only(engine, study, definition):
    other = on(engine, create_study, "other", definition)
    (link,) = on(engine, invite, study, 1)
    assert on(engine, find_by_link, study, link).number == 1
    assert on(engine, find_by_link, other, link) is None
    assert on(engine, find_by_link, study, link[:-1]) is None


def test_orders_are_dealt_out_evenly_to_those_who_begin(engine, study):
    on(engine, invite, study, 20)
    people = on(engine, all_participants, study)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda who: agree(engine, study, who), people[:13]))
    people = on(engine, all_participants, study)
    begun = [who for who in people if who.assignment]
    assert len(begun) == 13
    counts = Counter(who.assignment.blocks for who in begun)
    assert len(counts) == 6 and max(counts.values()) - min(counts.values()) <= 1


def test_invitations_at_the_same_moment_get_different_numbers(engine, study):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: on(engine, invite, study, 2), range(12)))
    numbers = [who.number for who in on(engine, all_participants, study)]
    assert numbers == list(range(1, 25))


def test_agreeing_twice_changes_nothing(engine, study):
    on(engine, invite, study, 1)
    (who,) = on(engine, all_participants, study)
    assert agree(engine, study, who) is True
    (before,) = on(engine, all_participants, study)
    assert agree(engine, study, who) is False
    assert on(engine, all_participants, study) == [before]


def test_a_participant_is_deleted_with_every_answer(engine, study, database):
    on(engine, invite, study, 2)
    one, two = on(engine, all_participants, study)
    closing = Page("closing", "closing")
    for who in (one, two):
        agree(engine, study, who)
        value = {"comment": f"unmistakable-{who.number}", "questions": {}}
        on(engine, store_answer, study, who, closing, value, None)
    assert on(engine, delete_participant, study, 1) is True
    assert [who.number for who in on(engine, all_participants, study)] == [2]
    assert {answer.participant_id for answer in on(engine, all_answers, study)} == {two.id}
    assert on(engine, delete_participant, study, 1) is False
    truncate_journal(engine)
    if Path(database).exists():
        left = b"".join(at.read_bytes() for at in Path(database).parent.glob("study.db*"))
        assert b"unmistakable-1" not in left and b"unmistakable-2" in left


def test_a_deleted_number_never_comes_again(engine, study):
    on(engine, invite, study, 2)
    on(engine, delete_participant, study, 2)
    on(engine, invite, study, 1)
    assert [who.number for who in on(engine, all_participants, study)] == [1, 3]


def test_a_deleted_number_is_not_somebody_elses_answers(engine, study, definition):
    other = on(engine, create_study, "other", definition)
    on(engine, invite, study, 1)
    on(engine, invite, other, 1)
    assert on(engine, delete_participant, study, 1) is True
    assert len(on(engine, all_participants, other)) == 1
