"""What participants read and rate: the paper's statements, one's own, and the texts around them.

A researcher's own wording comes in a TOML file; whatever it leaves out keeps its default:

    title = "How readable is this policy?"
    consent = \"\"\"…\"\"\"                      # blank lines part paragraphs
    instructions = \"\"\"…\"\"\"
    thanks = "Thank you!"
    completion_url = "https://…"             # a link on the last page
    paper_statements = true                  # false: only one's own
    statements = [{name = "trust", text = "I would trust this model.", reversed = false}]
    questions = [{name = "code", text = "Years of programming?", choices = ["0", "1-5", "6+"]}]

Ratings go from 1 to 7; that of a reversed statement counts as 8 minus itself.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import asdict
from os import PathLike
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field, StrictBool
from pydantic.dataclasses import dataclass

from crisptree.base.errors import CrisptreeError
from crisptree.base.files import read_text
from crisptree.lab.study.validation import validated

POINTS = (
    "Very strongly disagree",
    "Strongly disagree",
    "Disagree",
    "Neither agree nor disagree",
    "Agree",
    "Strongly agree",
    "Very strongly agree",
)
NAME = r"[a-z][a-z0-9_-]{0,31}"
MOST_ENTRIES = 50
FORBID_UNKNOWN = ConfigDict(extra="forbid")


def _distinct(entries: tuple[Any, ...]) -> tuple[Any, ...]:
    if len({entry.name for entry in entries}) < len(entries):
        raise ValueError("each entry needs a name of its own")
    return entries


Name = Annotated[str, Field(pattern=f"^{NAME}$")]
Text = Annotated[str, Field(min_length=1, max_length=10_000)]


@dataclass(frozen=True, config=FORBID_UNKNOWN)
class Statement:
    """Something to agree or disagree with, on seven points."""

    name: Name
    text: Text
    reversed: StrictBool = False

    def score(self, rating: int) -> int:
        """How the rating speaks for the policy, 1 … 7."""
        return len(POINTS) + 1 - rating if self.reversed else rating


@dataclass(frozen=True, config=FORBID_UNKNOWN)
class Question:
    """A question of the researcher's own at the end; with choices one of them, else free text.
    Nobody has to answer it."""

    name: Name
    text: Text
    choices: Annotated[tuple[Text, ...], Field(max_length=MOST_ENTRIES)] = ()


Statements = Annotated[
    tuple[Statement, ...], Field(min_length=1, max_length=MOST_ENTRIES), AfterValidator(_distinct)
]
Questions = Annotated[
    tuple[Question, ...], Field(max_length=MOST_ENTRIES), AfterValidator(_distinct)
]

PAPER_STATEMENTS = (
    Statement("understand", "I understand the behavior represented within the model."),
    Statement("no_sense", "The decision-making process does not make sense.", reversed=True),
    Statement("logic", "The model's logic is easy to follow."),
    Statement("readability", "I like the level of readability of this model."),
    Statement("difficult", "The model is difficult to understand.", reversed=True),
)
"""The sample survey questions at the paper's end."""

CONSENT = """\
This study is about how easily people can follow the decisions of a computer program. You will see \
several descriptions of such a program, say what it would do in a few situations, and rate each \
description. It takes about fifteen minutes.

Taking part is voluntary. You can stop at any time by closing the page.

Your answers, and the time each of them takes you, are stored under a number. Your name, your \
network address and your kind of browser are not stored. If you want your answers deleted, tell \
the researcher your number; it stands at the foot of every page."""

INSTRUCTIONS = """\
A program controls a machine. At every moment it looks at a few numbers, the state, and takes one \
action. How it decides is called its policy.

You will see different policies, one after the other. Each has a drawing that says exactly how it \
decides. For each there is first a question for practice, after which you see the way to the \
answer. Then come the questions that count: you see a state, and say which action the policy \
takes according to the drawing.

There is no time limit, but please answer without pausing. You may use pencil and paper. Try to be \
right rather than fast. You cannot go back to earlier questions."""


@dataclass(frozen=True, config=FORBID_UNKNOWN)
class Questionnaire:
    title: Text = "Reading a policy"
    consent: Text = CONSENT
    instructions: Text = INSTRUCTIONS
    thanks: Text = "Thank you. Your answers are saved; you can close this page."
    completion_url: Annotated[str, Field(pattern="^(https?://.*)?$")] = ""
    """A link on the last page, if any."""
    statements: Statements = PAPER_STATEMENTS
    questions: Questions = ()

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "Questionnaire":
        """The questionnaire that a mapping describes; an error names the entry at fault."""
        return validated(cls, content)


def load_questionnaire(path: str | PathLike[str]) -> Questionnaire:
    """The questionnaire in a TOML file; an error names the file and the entry at fault."""
    try:
        content = tomllib.loads(read_text(path))
    except (OSError, ValueError, RecursionError) as error:
        why = getattr(error, "strerror", None) or error
        raise CrisptreeError(f"cannot read the questionnaire {path}: {why}") from None
    wants_paper, own = content.pop("paper_statements", True), content.get("statements", [])
    if type(wants_paper) is not bool or not isinstance(own, list):
        raise CrisptreeError(
            f"{path}: paper_statements must be true or false, and statements a list"
        )
    paper = [asdict(each) for each in PAPER_STATEMENTS] if wants_paper else []
    try:
        return Questionnaire.from_dict({**content, "statements": [*paper, *own]})
    except CrisptreeError as error:
        raise CrisptreeError(f"{path}: {error}") from None
