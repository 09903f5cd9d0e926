"""From the words of a command line to an object of a command's dataclass.

What is wrong is a CrisptreeError of one line that says what would be right.
"""

import dataclasses
import difflib
import re
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from crisptree.base.errors import CrisptreeError
from crisptree.commands.options import Option, choices_of, options_of

KINDS = {int: "a whole number", float: "a number", bool: "True or False"}
TRUTH = {"true": True, "false": False}
NEGATIVE = re.compile(r"-[\d.]|-inf|-nan", re.IGNORECASE)

Values = dict[tuple[str, ...], Any]


def parsed(
    kind: Any,
    words: list[str],
    command: str,
    *,
    base: Any = None,
    is_dotted: bool = False,
    others: Callable[[], Iterable[str]] = tuple,
) -> Any:
    """The options as an object of `kind`; what is not given is as in `base`.

    `others` returns options that are known elsewhere: they may be meant by an unknown one.
    """
    known = list(options_of(kind, is_dotted=is_dotted, base=base))
    try:
        values = _read(words, known, command, others)
    except CrisptreeError as error:
        raise CrisptreeError(f"{error}; crisptree {command} --help says more") from None
    return _made(kind, values, base)


def asks_for_help(words: list[str]) -> bool:
    return "--help" in words or "-h" in words


def _read(
    words: list[str], known: list[Option], command: str, others: Callable[[], Iterable[str]]
) -> Values:
    by_name = {each.name: each for each in known if not each.form.is_positional}
    positionals = [each for each in known if each.form.is_positional]
    values: Values = {}
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        if not _is_option(word):
            _place(word, positionals, values, command)
            continue
        name, equals, value = word.partition("=")
        option = by_name.get("--" + name[2:].replace("_", "-"))
        if option is None:
            _unknown(name, command, [*by_name, *others()])
        if option.is_flag:
            if equals:
                raise CrisptreeError(f"{option.name} takes no value")
            values[option.path] = not option.default
            continue
        taken = [value] if equals else _taken(option, waiting)
        if not taken:
            raise CrisptreeError(f"{option.name} needs a value")
        new = _value(option, taken)
        values[option.path] = (
            (*values.get(option.path, ()), *new) if option.form.is_repeated else new
        )
    _complete(known, values, command)
    return values


def _is_option(word: str) -> bool:
    return word.startswith("-") and word != "-" and not NEGATIVE.match(word)


def _taken(option: Option, waiting: list[str]) -> list[str]:
    """The words that are an option's values; they are taken off those that wait."""
    most = 1
    if option.takes_any_number:
        most = len(waiting)
    elif option.items is not None and not option.form.is_repeated:
        most = len(option.items)
    taken: list[str] = []
    while waiting and len(taken) < most and not _is_option(waiting[0]):
        taken.append(waiting.pop(0))
    return taken


def _place(word: str, positionals: list[Option], values: Values, command: str) -> None:
    """Give a word without a name to the first positional that has none yet."""
    for option in positionals:
        if option.takes_any_number:
            values[option.path] = (*values.get(option.path, ()), *_value(option, [word]))
            return
        if option.path not in values:
            values[option.path] = _value(option, [word])
            return
    raise CrisptreeError(f"{command} does not know what to do with '{word}'")


def _unknown(name: str, command: str, names: list[str]) -> NoReturn:
    ending = [each for each in names if each.endswith("." + name[2:].replace("_", "-"))]
    close = [*ending, *difflib.get_close_matches(name, names, n=1)]
    meant = f"; did you mean {close[0]}?" if close else ""
    raise CrisptreeError(f"{command} has no option {name}{meant}")


def _complete(known: list[Option], values: Values, command: str) -> None:
    missing = [each for each in known if each.is_required and each.path not in values]
    if not missing:
        return
    shown = [
        f"{each.name} {each.metavar}"
        if not each.form.is_positional and each.metavar.isupper()
        else each.name
        for each in missing
    ]
    raise CrisptreeError(f"{command} needs {' and '.join(shown)}")


def _value(option: Option, words: list[str]) -> Any:
    if option.items is None:
        (word,) = words
        if option.may_be_open and option.is_dotted and word == "None":
            return None
        return _one(option, option.kind, word)
    kinds = option.items
    if kinds[-1] is Ellipsis:
        kinds = kinds[:1] * len(words)
    if len(kinds) != len(words):
        raise CrisptreeError(f"{option.name} takes {len(kinds)} values, not {len(words)}")
    return tuple(_one(option, kind, word) for kind, word in zip(kinds, words, strict=True))


def _one(option: Option, kind: Any, word: str) -> Any:
    """One word as a value of one type."""
    choices = choices_of(kind)
    if choices:
        for choice in choices:
            if str(choice) == word:
                return choice
        allowed = ", ".join(map(str, choices))
        raise CrisptreeError(f"{option.name} cannot be '{word}'; it may be {allowed}")
    try:
        return TRUTH[word.lower()] if kind is bool else kind(word)
    except (ValueError, KeyError):
        raise CrisptreeError(f"{option.name} takes {KINDS[kind]}, not '{word}'") from None


def _made(kind: Any, values: Values, base: Any) -> Any:
    """An object of `kind` with the values, nested as their paths say."""
    given: dict[str, Any] = {}
    inner: dict[str, Values] = {}
    for (name, *rest), value in values.items():
        if rest:
            inner.setdefault(name, {})[tuple(rest)] = value
        else:
            given[name] = value
    for name, part in inner.items():
        field = next(each for each in dataclasses.fields(kind) if each.name == name)
        old = field.default_factory() if base is None else getattr(base, name)  # pyright: ignore[reportCallIssue]
        try:
            given[name] = _made(type(old), part, old)
        except CrisptreeError as error:
            raise error if base is None else CrisptreeError(f"{name}: {error}") from error
    return kind(**given) if base is None else dataclasses.replace(base, **given)
