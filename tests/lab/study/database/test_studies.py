import pytest
from people import on

from crisptree.base.errors import CrisptreeError
from crisptree.lab.study.database import create_study, find_study, the_study


def test_a_study_is_found_again(engine, study, definition):
    found = on(engine, find_study, "study")
    assert found.definition.to_dict() == definition.to_dict()
    assert (found.id, found.signing_key, found.join_code) == (
        study.id,
        study.signing_key,
        study.join_code,
    )
    assert on(engine, find_study, "other") is None


def test_names_are_taken_once(engine, study, definition):
    with pytest.raises(CrisptreeError, match="has a study 'study' already"):
        on(engine, create_study, "study", definition)


def test_a_wrong_name_is_told_which_there_are(engine, definition):
    with pytest.raises(CrisptreeError, match="no study 'x'; it has none yet"):
        on(engine, the_study, "x")
    on(engine, create_study, "a", definition)
    on(engine, create_study, "b", definition)
    with pytest.raises(CrisptreeError, match="its studies are a, b"):
        on(engine, the_study, "x")


def test_keys_and_codes_differ_between_studies(engine, definition):
    one, two = (on(engine, create_study, name, definition) for name in ("a", "b"))
    assert one.signing_key != two.signing_key and one.join_code != two.join_code
