"""The reference of a configuration, written from its dataclasses while the site is built.

A page that holds

    <!-- fields of module.path:ClassName -->

gets, in place of that line, one section for the class and one for each dataclass in it: a table of
every field with its name on the command line, the docstring below it, its type and its default.
"""

import dataclasses
import importlib
import re
import types
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from crisptree.commands.options import class_text, field_texts

MARKER = re.compile(r"^<!-- fields of (?P<module>[\w.]+):(?P<name>\w+) -->$", re.MULTILINE)


@dataclass(frozen=True)
class Entry:
    """One field that a user can set."""

    name: str
    """Its dotted name, `ppo.gamma`."""
    is_option: bool
    """Whether the command line takes it by that name."""
    kind: str
    """Its type, as Markdown."""
    default: str
    """What it is unless it is set, as Markdown."""
    text: str


@dataclass(frozen=True)
class Section:
    """The fields of one dataclass."""

    name: str
    """Its dotted name, empty for the outermost."""
    text: str
    entries: tuple[Entry, ...]


def on_page_markdown(markdown: str, **_: Any) -> str:
    """MkDocs calls this for every page."""
    return MARKER.sub(lambda found: reference(found["module"], found["name"]), markdown)


def reference(module: str, name: str) -> str:
    """The whole reference of a dataclass as Markdown."""
    cls = getattr(importlib.import_module(module), name)
    found = list(sections(cls))
    return "\n\n".join([*(as_markdown(section) for section in found), index(found)])


def index(found: list[Section]) -> str:
    """Every field by its own name, in the order of the alphabet, with a link to its row."""
    names = [entry.name for section in found for entry in section.entries]
    names.sort(key=lambda name: (name.rpartition(".")[2], name))
    links = " · ".join(f"[`{name}`](#{name})" for name in names)
    return f"## Index\n\n{links}"


def as_markdown(section: Section) -> str:
    parts = [f"## {section.name}" if section.name else "", section.text, table(section.entries)]
    return "\n\n".join(part for part in parts if part)


def table(entries: tuple[Entry, ...]) -> str:
    if not entries:
        return ""
    rows = ["| option | what it is |", "|---|---|"]
    for entry in entries:
        name = f"--{entry.name.replace('_', '-')}" if entry.is_option else entry.name
        facts = f"<small>{entry.kind}; {entry.default}</small>"
        text = entry.text.replace("|", r"\|")
        rows.append(f'| <a id="{entry.name}"></a>`{name}` | {text}<br>{facts} |')
    return "\n".join(rows)


def sections(cls: type, prefix: str = "", is_option: bool = True) -> Iterator[Section]:
    """The sections of a dataclass: its own fields first, then those of the dataclasses in it."""
    texts = field_texts(cls)
    hints = typing.get_type_hints(cls, include_extras=True)
    entries, inner = [], []
    for field in dataclasses.fields(cls):
        name, hint = f"{prefix}{field.name}", hints[field.name]
        shown = is_option and field.metadata.get("option", True)
        part = nested(hint)
        if part is not None:
            inner.append((part, name, shown))
            continue
        text = texts[field.name]
        entries.append(Entry(name, shown, type_name(hint), default_of(field), text))
    yield Section(prefix.rstrip("."), class_text(cls), tuple(entries))
    for part, name, shown in inner:
        yield from sections(part, f"{name}.", shown)


def nested(hint: Any) -> type | None:
    """The dataclass a field holds, also where it may be None; None for any other field."""
    if typing.get_origin(hint) is typing.Annotated:
        return nested(typing.get_args(hint)[0])
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        found = [part for each in typing.get_args(hint) if (part := nested(each)) is not None]
        return found[0] if len(found) == 1 else None
    return hint if isinstance(hint, type) and dataclasses.is_dataclass(hint) else None


def default_of(field: dataclasses.Field) -> str:
    if field.default_factory is not dataclasses.MISSING:
        return written(field.default_factory())
    return "required" if field.default is dataclasses.MISSING else written(field.default)


def written(value: Any) -> str:
    """A default as one would type it, as Markdown."""
    return "left open" if value is None or value in ((), "", {}) else f"default `{typed(value)}`"


def typed(value: Any) -> str:
    if isinstance(value, tuple | list):
        return " ".join(map(typed, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def type_name(hint: Any) -> str:
    """A type in short, as Markdown: int, float, the values of a choice."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return type_name(arguments[0])
    if origin in (typing.Union, types.UnionType):
        parts = [type_name(each) for each in arguments if each is not type(None)]
        return " or ".join(dict.fromkeys(parts))
    if origin is typing.Literal:
        return ", ".join(f"`{each}`" for each in arguments)
    if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        return f"{type_name(arguments[0])} …"
    if origin is not None:
        return f"{getattr(origin, '__name__', origin)} of {', '.join(map(type_name, arguments))}"
    return getattr(hint, "__name__", str(hint))
