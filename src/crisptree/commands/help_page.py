"""What `crisptree COMMAND --help` prints."""

import itertools
import shutil
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING
from typing import Any

from crisptree.commands.options import Option, class_text, field_texts, options_of

WIDEST = 100
COLUMN = 26
"""Where the second column begins."""


def help_of(kind: type, command: str, *, is_dotted: bool = False) -> str:
    """The help of a command whose options are the fields of `kind`."""
    known = list(options_of(kind, is_dotted=is_dotted))
    positionals = [each for each in known if each.form.is_positional]
    named = sorted((each for each in known if not each.form.is_positional), key=_is_inner)
    needed = [_needed(each) for each in (*positionals, *named) if each.is_required]
    parts = [_usage(command, *needed)]
    parts += _paragraphs(class_text(kind))
    if any(each.is_required for each in positionals):
        parts.append(_section("arguments", _rows(positionals)))
    first = [("-h, --help", "Show this help.")]
    for (prefix, owner), group in itertools.groupby(named, key=_group):
        title = _filled(f"{prefix}: {_first_paragraph(owner)}") if prefix else "options"
        parts.append(_section(title, [*first, *_rows(group)]))
        first = []
    return "\n\n".join(parts) + "\n"


def help_of_parts(text: str, command: str, kinds: Mapping[str, type]) -> str:
    """The help of a command that has commands of its own."""
    rows = [(name, _first_paragraph(kind)) for name, kind in kinds.items()]
    usage = _usage(command, f"{{{','.join(kinds)}}}")
    last = f"crisptree {command} NAME --help says more."
    return "\n\n".join([usage, *_paragraphs(text), _section("commands", rows), last]) + "\n"


def _usage(*words: str) -> str:
    return _filled(" ".join(["usage: crisptree", *words, "[OPTIONS]"]), later=" " * 7)


def _is_inner(option: Option) -> bool:
    return option.is_dotted and len(option.path) > 1


def _group(option: Option) -> tuple[str, type]:
    """The section of the help that an option is in: a title, and the dataclass that says more."""
    prefix = ".".join(option.path[:-1]) if option.is_dotted else ""
    return prefix, option.owner if prefix else object


def _needed(option: Option) -> str:
    if option.form.is_positional:
        return option.name
    return f"{option.name} {option.metavar if option.metavar.isupper() else 'NAME'}"


def _rows(options: Iterable[Option]) -> Iterator[tuple[str, str]]:
    for each in options:
        text = field_texts(each.owner)[each.path[-1]]
        default = _written(each.default)
        shown = f" (default: {default})" if default and not each.is_flag else ""
        name = each.name if each.form.is_positional else f"{each.name} {each.metavar}".rstrip()
        yield name, f"{text}{shown}"


def _written(default: Any) -> str:
    """A default as one would type it; nothing for what is left open or must be given."""
    if isinstance(default, tuple):
        return " ".join(map(_written, default))
    return "" if default is None or default is MISSING else str(default)


def _width() -> int:
    return max(40, min(WIDEST, shutil.get_terminal_size().columns))


def _paragraphs(text: str) -> list[str]:
    """Each paragraph in lines that fit."""
    return [_filled(" ".join(each.split())) for each in text.split("\n\n") if each.strip()]


def _first_paragraph(kind: type) -> str:
    return " ".join(class_text(kind).partition("\n\n")[0].split())


def _section(title: str, rows: Iterable[tuple[str, str]]) -> str:
    return "\n".join([title, *(line for row in rows for line in _row(*row))])


def _row(name: str, text: str) -> list[str]:
    lines = _filled(text, " " * COLUMN).splitlines() or [""]
    if len(name) + 4 > COLUMN:
        return [f"  {name}", *lines]
    return [f"  {name:<{COLUMN - 2}}{lines[0].strip()}".rstrip(), *lines[1:]]


def _filled(text: str, indent: str = "", later: str = "") -> str:
    return textwrap.fill(
        text,
        _width(),
        initial_indent=indent,
        subsequent_indent=indent or later,
        break_long_words=False,
        break_on_hyphens=False,
    )
