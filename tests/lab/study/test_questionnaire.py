import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.lab.study.questionnaire import (
    PAPER_STATEMENTS,
    POINTS,
    Questionnaire,
    Statement,
    load_questionnaire,
)


def test_the_papers_scale_and_statements():
    assert len(POINTS) == 7
    assert POINTS[0] == "Very strongly disagree" and POINTS[-1] == "Very strongly agree"
    assert [each.reversed for each in PAPER_STATEMENTS] == [False, True, False, False, True]


def test_reversed_statements_are_scored_as_such():
    assert [Statement("a", "…").score(rating) for rating in (1, 4, 7)] == [1, 4, 7]
    assert [Statement("a", "…", True).score(rating) for rating in (1, 4, 7)] == [7, 4, 1]


def test_dictionaries_come_back():
    assert Questionnaire.from_dict(Questionnaire().to_dict()) == Questionnaire()


def test_ones_own_come_after_the_papers(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(
        'title = "Mine"\n'
        'statements = [{name = "trust", text = "I would trust it.", reversed = true}]\n'
        'questions = [{name = "age", text = "Age?", choices = ["<30", "30+"]}]\n'
    )
    found = load_questionnaire(path)
    assert found.title == "Mine" and found.consent == Questionnaire().consent
    assert found.statements == (*PAPER_STATEMENTS, Statement("trust", "I would trust it.", True))
    assert found.questions[0].choices == ("<30", "30+")
    path.write_text("paper_statements = false\n" + path.read_text())
    assert [each.name for each in load_questionnaire(path).statements] == ["trust"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("title = ", "cannot read the questionnaire"),
        ("titel = 'x'", "titel: there is no such entry"),
        ("title = 3", "title: Input should be a valid string"),
        ("title = ''", "title: String should have at least 1 character"),
        ("paper_statements = 1", "must be true or false"),
        ("paper_statements = false", "statements: Tuple should have at least 1 item"),
        ("completion_url = 'javascript:alert(1)'", "completion_url: String should match"),
        ("statements = 3", "statements a list"),
        ("statements = [3]", r"statements\[5\]: Input should be a dictionary"),
        ("statements = [{name = 'a'}]", r"statements\[5\].text: Field required"),
        ("statements = [{name = 'A b', text = 'x'}]", r"name: String should match pattern .*a-z"),
        ("statements = [{name = 'logic', text = 'x'}]", "each entry needs a name of its own"),
        ("statements = [{name = 'a', text = 'x', reversed = 1}]", "reversed: Input should be"),
        ("statements = [{name = 'a', text = 'x', sign = 1}]", "sign: there is no such"),
        ("questions = [{name = 'a', text = 'x', choices = [1]}]", r"choices\[0\]: Input should be"),
        ("questions = 'x'", "questions: Input should be a valid tuple"),
    ],
)
def test_a_wrong_file_is_refused_in_words(tmp_path, text, message):
    path = tmp_path / "own.toml"
    path.write_text(text)
    with pytest.raises(CrisptreeError, match=message) as caught:
        load_questionnaire(path)
    assert "own.toml" in str(caught.value) and "\n" not in str(caught.value)


def test_a_missing_file_is_refused_in_words(tmp_path):
    with pytest.raises(CrisptreeError, match="No such file"):
        load_questionnaire(tmp_path / "none.toml")
