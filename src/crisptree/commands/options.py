"""The options of a command, read off the fields of its dataclass.

`leaves: int | None = None` is `--leaves INT`, `quick: bool = False` is `--quick`, and
`replay: bool = True` is `--no-replay`. `Annotated[…, option("FILE")]` says what to show for the
value; `positional` and `repeated` say how it is given. The text below a field is its help.
"""

import ast
import dataclasses
import inspect
import textwrap
import types
from collections.abc import Iterator
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

UNIONS = (Union, types.UnionType)
METAVARS = {int: "INT", float: "FLOAT", str: "TEXT", Path: "PATH", bool: "{True,False}"}


@dataclass(frozen=True)
class Form:
    """How a field is given on the command line, where its type does not say it."""

    metavar: str | None = None
    name: str | None = None
    is_positional: bool = False
    is_repeated: bool = False


def option(metavar: str | None = None, name: str | None = None) -> Form:
    """Another word for the value; another name, where Python has the word for itself."""
    return Form(metavar, name)


def positional(metavar: str) -> Form:
    """Given without a name."""
    return Form(metavar, is_positional=True)


def repeated(metavar: str) -> Form:
    """May be given several times, with one value each."""
    return Form(metavar, is_repeated=True)


@dataclass(frozen=True)
class Option:
    """One word of a command's help."""

    owner: type
    """The dataclass that has the field."""
    path: tuple[str, ...]
    """Names of fields, from the outermost dataclass to this one."""
    kind: Any
    """Its type, without None."""
    may_be_open: bool
    """Whether None is allowed."""
    form: Form
    default: Any
    is_dotted: bool
    """Named by its whole path, `--ppo.gamma`, and a truth value is spelled out."""

    @property
    def name(self) -> str:
        if self.form.is_positional:
            return self.form.metavar or self.path[-1].upper()
        parts = self.path if self.is_dotted else self.path[-1:]
        name = self.form.name or ".".join(parts).replace("_", "-")
        return f"--no-{name}" if self.is_flag and self.default else f"--{name}"

    @property
    def is_flag(self) -> bool:
        return self.kind is bool and not self.is_dotted

    @property
    def is_required(self) -> bool:
        return self.default is MISSING

    @property
    def items(self) -> tuple[Any, ...] | None:
        """The types of a tuple's items; None where the value is a single one."""
        return get_args(self.kind) if get_origin(self.kind) is tuple else None

    @property
    def takes_any_number(self) -> bool:
        return self.items is not None and self.items[-1] is Ellipsis and not self.form.is_repeated

    @property
    def metavar(self) -> str:
        if self.form.metavar is not None:
            return self.form.metavar
        if self.is_flag:
            return ""
        if self.items is None:
            return metavar_of(self.kind)
        if self.items[-1] is Ellipsis:
            return f"{metavar_of(self.items[0])} ..."
        return " ".join(map(metavar_of, self.items))


def metavar_of(kind: Any) -> str:
    choices = choices_of(kind)
    return f"{{{','.join(map(str, choices))}}}" if choices else METAVARS[kind]


def choices_of(kind: Any) -> tuple[Any, ...]:
    """The values of a Literal, or of several; none for other types."""
    if get_origin(kind) is Literal:
        return get_args(kind)
    if get_origin(kind) in UNIONS:
        return tuple(choice for each in get_args(kind) for choice in choices_of(each))
    return ()


def options_of(
    kind: Any, *, is_dotted: bool = False, base: Any = None, path: tuple[str, ...] = ()
) -> Iterator[Option]:
    """The options of a dataclass and of those in it; defaults are those of `base` if it is given.

    A field with `metadata={"option": False}` is none.
    """
    hints = get_type_hints(kind, include_extras=True)
    for field in dataclasses.fields(kind):
        if not field.metadata.get("option", True):
            continue
        hint, form = _plain(hints[field.name])
        default = _default(field) if base is None else getattr(base, field.name)
        here = (*path, field.name)
        if dataclasses.is_dataclass(hint):
            yield from options_of(hint, is_dotted=is_dotted, base=default, path=here)
            continue
        hint, may_be_open = _closed(hint)
        yield Option(kind, here, hint, may_be_open, form, default, is_dotted)


def _plain(hint: Any) -> tuple[Any, Form]:
    """A type without its annotations, and the form that is among them."""
    form = Form()
    while get_origin(hint) is Annotated:
        hint, *notes = get_args(hint)
        form = next((note for note in notes if isinstance(note, Form)), form)
    return hint, form


def _closed(hint: Any) -> tuple[Any, bool]:
    """A type without None, and whether None was in it."""
    if get_origin(hint) not in UNIONS or type(None) not in get_args(hint):
        return hint, False
    return Union[tuple(each for each in get_args(hint) if each is not type(None))], True  # noqa: UP007


def _default(field: dataclasses.Field) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return field.default


def field_texts(kind: type) -> dict[str, str]:
    """What stands below each field, in the class and in those it inherits from."""
    found = {field.name: "" for field in dataclasses.fields(kind)}
    for each in reversed(kind.__mro__):
        if dataclasses.is_dataclass(each):
            found |= _own_texts(each)
    return found


def _own_texts(kind: type) -> dict[str, str]:
    try:
        source = inspect.getsource(kind)
    except OSError:  # compiled files only: the help has names and types
        return {}
    (definition,) = ast.parse(textwrap.dedent(source)).body
    assert isinstance(definition, ast.ClassDef)
    found = {}
    for field, text in zip(definition.body, definition.body[1:], strict=False):
        match field, text:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str() as words)),
            ):
                found[name] = " ".join(words.split())
    return found


def class_text(kind: type) -> str:
    """The docstring somebody wrote, not the one that `dataclass` makes."""
    text = inspect.cleandoc(kind.__doc__ or "")
    return "" if text.startswith(f"{kind.__name__}(") else text
