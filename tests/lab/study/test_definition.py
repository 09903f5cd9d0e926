import json

import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.lab.study.aids import cartpole_aids
from crisptree.lab.study.definition import Definition, define, names
from crisptree.lab.study.questionnaire import Questionnaire


def test_it_comes_back_through_json(definition):
    again = Definition.from_dict(json.loads(json.dumps(definition.to_dict())))
    assert again.to_dict() == definition.to_dict()
    assert again.asks_the_same([block.aid for block in definition.blocks], again.questionnaire)


def test_other_policies_or_statements_are_another_study(definition):
    aids = [block.aid for block in definition.blocks]
    assert not definition.asks_the_same(aids[::-1], definition.questionnaire)
    assert not definition.asks_the_same(aids, Questionnaire(title="Other"))


def test_all_aids_show_numbers_with_the_same_digits(definition, visited):
    aids = cartpole_aids()
    uneven = define([(aids[0], visited * 0.1), (aids[1], visited)], Questionnaire(), 5, 0)
    for found in (definition, uneven):
        digits = {
            tuple(len(text.partition(".")[2]) for text in item.state)
            for block in found.blocks
            for item in (block.practice, *block.items)
        }
        assert len(digits) == 1


def test_names_are_numbered_where_kinds_repeat():
    tree, list_, _ = cartpole_aids()
    assert names([tree, list_, tree]) == ["tree1", "list", "tree2"]


@pytest.mark.parametrize(
    ("n_aids", "n_items", "message"),
    [(1, 5, "1 aids were given"), (3, 0, "0 questions an aid"), (7, 5, "7 aids were given")],
)
def test_limits(visited, n_aids, n_items, message):
    aids = (cartpole_aids() * 3)[:n_aids]
    with pytest.raises(CrisptreeError, match=message):
        define([(aid, visited) for aid in aids], Questionnaire(), n_items, 0)


def test_an_unknown_version_is_refused(definition):
    with pytest.raises(CrisptreeError, match="another crisptree"):
        Definition.from_dict(definition.to_dict() | {"version": 2})


def test_too_few_states_name_the_aid(visited):
    with pytest.raises(CrisptreeError, match="aid tree: this policy visited only"):
        define([(aid, visited[:4]) for aid in cartpole_aids()], Questionnaire(), 5, 0)
