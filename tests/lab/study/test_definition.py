import json

import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.lab.study.definition import Definition, define, names
from crisptree.lab.study.drawing import cartpole_drawings
from crisptree.lab.study.questionnaire import Questionnaire


def test_it_comes_back_through_json(definition):
    again = Definition.from_dict(json.loads(json.dumps(definition.to_dict())))
    assert again.to_dict() == definition.to_dict()
    assert again.asks_the_same([block.drawing for block in definition.blocks], again.questionnaire)


def test_other_policies_or_statements_are_another_study(definition):
    drawings = [block.drawing for block in definition.blocks]
    assert not definition.asks_the_same(drawings[::-1], definition.questionnaire)
    assert not definition.asks_the_same(drawings, Questionnaire(title="Other"))


def test_all_policies_show_numbers_with_the_same_digits(definition, visited):
    drawings = cartpole_drawings()
    uneven = define([(drawings[0], visited * 0.1), (drawings[1], visited)], Questionnaire(), 5, 0)
    for found in (definition, uneven):
        digits = {
            tuple(len(text.partition(".")[2]) for text in item.state)
            for block in found.blocks
            for item in (block.practice, *block.items)
        }
        assert len(digits) == 1


def test_names_are_numbered_where_kinds_repeat():
    tree, list_, _ = cartpole_drawings()
    assert names([tree, list_, tree]) == ["tree1", "list", "tree2"]


@pytest.mark.parametrize(
    ("n_policies", "n_items", "message"),
    [
        (1, 5, "1 policies were given"),
        (3, 0, "0 questions a policy"),
        (7, 5, "7 policies were given"),
    ],
)
def test_limits(visited, n_policies, n_items, message):
    drawings = (cartpole_drawings() * 3)[:n_policies]
    with pytest.raises(CrisptreeError, match=message):
        define([(drawing, visited) for drawing in drawings], Questionnaire(), n_items, 0)


def test_an_unknown_version_is_refused(definition):
    with pytest.raises(CrisptreeError, match="another version of crisptree"):
        Definition.from_dict(definition.to_dict() | {"version": 3})


def test_too_few_states_name_the_policy(visited):
    with pytest.raises(CrisptreeError, match="policy tree: this policy visited only"):
        define([(drawing, visited[:4]) for drawing in cartpole_drawings()], Questionnaire(), 5, 0)


def change(content, path, value):
    """`content` with another value at a path; without the entry if there is no value."""
    *way, last = path
    for key in way:
        content = content[key]
    if value is None:
        del content[last]
    else:
        content[last] = value


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["seed"], "x"),
        (["seed"], None),
        (["blocks"], []),
        (["blocks"], 5),
        (["blocks", 0], "x"),
        (["blocks", 0, "kind"], "forest"),
        (["blocks", 0, "kind"], "mlp"),
        (["blocks", 0, "policy"], None),
        (["blocks", 0, "policy", "tree", "threshold"], [1, 2]),
        (["blocks", 2, "policy", "layers"], [[1]]),
        (["blocks", 0, "items"], []),
        (["blocks", 0, "items", 1], {"state": []}),
        (["blocks", 0, "items", 1, "state"], ["0.1"]),
        (["blocks", 0, "items", 1, "answer"], [7]),
        (["blocks", 0, "items", 1, "answer"], []),
        (["blocks", 0, "practice", "answer"], ["left"]),
        (["blocks", 0, "practice"], None),
        (["blocks", 0, "tolerances"], "x"),
        (["blocks", 0, "tolerances"], [0.1]),
        (["blocks", 0, "tolerances"], [-0.1]),
        (["questionnaire", "statements"], []),
        (["questionnaire", "title"], 5),
    ],
)
def test_a_damaged_definition_is_one_line(definition, path, value):
    content = json.loads(json.dumps(definition.to_dict()))
    change(content, path, value)
    with pytest.raises(CrisptreeError, match="the study's definition is damaged: ") as caught:
        Definition.from_dict(content)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [[], "x", None, {}, {"version": 1}])
def test_no_definition_at_all(content):
    with pytest.raises(CrisptreeError, match="another version of crisptree"):
        Definition.from_dict(content)
