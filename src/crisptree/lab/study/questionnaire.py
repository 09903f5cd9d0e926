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

import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from os import PathLike
from typing import Any

from crisptree.base.errors import CrisptreeError

POINTS = (
    "Very strongly disagree",
    "Strongly disagree",
    "Disagree",
    "Neither agree nor disagree",
    "Agree",
    "Strongly agree",
    "Very strongly agree",
)
NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")
LONGEST_TEXT = 10_000
MOST_ENTRIES = 50


@dataclass(frozen=True)
class Statement:
    """Something to agree or disagree with, on seven points."""

    name: str
    text: str
    reversed: bool = False

    def score(self, rating: int) -> int:
        """How the rating speaks for the aid, 1 … 7."""
        return len(POINTS) + 1 - rating if self.reversed else rating


@dataclass(frozen=True)
class Question:
    """A question of the researcher's own at the end; with choices one of them, else free text.
    Nobody has to answer it."""

    name: str
    text: str
    choices: tuple[str, ...] = ()


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


@dataclass(frozen=True)
class Questionnaire:
    title: str = "Reading a policy"
    consent: str = CONSENT
    instructions: str = INSTRUCTIONS
    thanks: str = "Thank you. Your answers are saved; you can close this page."
    completion_url: str = ""
    """A link on the last page, if any."""
    statements: tuple[Statement, ...] = PAPER_STATEMENTS
    questions: tuple[Question, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        content = asdict(self)
        for question in content["questions"]:
            question["choices"] = list(question["choices"])
        return {**content, **{key: list(content[key]) for key in ("statements", "questions")}}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "Questionnaire":
        known = {each.name for each in fields(cls)}
        if unknown := [name for name in content if name not in known]:
            raise CrisptreeError(f"{unknown[0]!r:.40} is nothing a questionnaire has")
        texts = ("title", "consent", "instructions", "thanks")
        url = content.get("completion_url", "")
        if url and not str(url).startswith(("https://", "http://")):
            raise CrisptreeError(f"completion_url is {url!r:.60}; it must start with https://")
        found = cls(
            **{name: _text(name, content[name]) for name in texts if name in content},
            completion_url=str(url),
            statements=tuple(
                _statement(f"statements[{at}]", each)
                for at, each in enumerate(_list("statements", content))
            ),
            questions=tuple(
                _question(f"questions[{at}]", each)
                for at, each in enumerate(_list("questions", content))
            ),
        )
        for what, entries in (("statements", found.statements), ("questions", found.questions)):
            names = [entry.name for entry in entries]
            if len(set(names)) < len(names):
                raise CrisptreeError(f"two {what} have one name; each needs a name of its own")
        if not found.statements:
            raise CrisptreeError("there is no statement to rate; at least one is needed")
        return found


def load_questionnaire(path: str | PathLike[str]) -> Questionnaire:
    """The questionnaire in a TOML file; an error names the file and the entry at fault."""
    try:
        with open(path, "rb") as file:
            content = tomllib.load(file)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise CrisptreeError(f"cannot read the questionnaire {path}: {why}") from None
    try:
        wants_paper = content.pop("paper_statements", True)
        if type(wants_paper) is not bool:
            raise CrisptreeError("paper_statements must be true or false")
        own = _list("statements", content)
        paper = [asdict(each) for each in PAPER_STATEMENTS] if wants_paper else []
        return Questionnaire.from_dict({**content, "statements": [*paper, *own]})
    except CrisptreeError as error:
        raise CrisptreeError(f"{path}: {error}") from None


def _statement(field: str, entry: object) -> Statement:
    found = _entry(field, entry, ("name", "text"), ("reversed",))
    is_reversed = found.get("reversed", False)
    if type(is_reversed) is not bool:
        raise CrisptreeError(f"{field}.reversed must be true or false")
    return Statement(_name(field, found), _text(f"{field}.text", found["text"]), is_reversed)


def _question(field: str, entry: object) -> Question:
    found = _entry(field, entry, ("name", "text"), ("choices",))
    choices = _list("choices", found)
    texts = tuple(_text(f"{field}.choices", choice) for choice in choices)
    return Question(_name(field, found), _text(f"{field}.text", found["text"]), texts)


def _entry(
    field: str, entry: object, needed: tuple[str, ...], optional: tuple[str, ...]
) -> Mapping[str, Any]:
    if not isinstance(entry, Mapping):
        raise CrisptreeError(f"{field} must be a table with {' and '.join(needed)}")
    for name in needed:
        if name not in entry:
            raise CrisptreeError(f"{field}.{name} is missing")
    for name in entry:
        if name not in needed + optional:
            raise CrisptreeError(f"{field} has no {name!r:.40}; it has {', '.join(needed)}")
    return entry


def _name(field: str, entry: Mapping[str, Any]) -> str:
    name = entry["name"]
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise CrisptreeError(
            f"{field}.name is {name!r:.40}; it must be a-z, 0-9, _ and -, at most 32 of them"
        )
    return name


def _text(field: str, value: object) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_TEXT:
        raise CrisptreeError(f"{field} must be text of 1 … {LONGEST_TEXT:,} characters")
    return value


def _list(field: str, content: Mapping[str, Any]) -> list[Any]:
    value = content.get(field, [])
    if not isinstance(value, list) or len(value) > MOST_ENTRIES:
        raise CrisptreeError(f"{field} must be a list of at most {MOST_ENTRIES}")
    return value
