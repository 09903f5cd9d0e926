"""Content of files and of the database, checked against types by pydantic."""

from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from crisptree.base.errors import CrisptreeError
from crisptree.base.text import printable

T = TypeVar("T")


def validated(kind: type[T], content: object) -> T:
    """`content` as an object of that type; an error of one line names the entry at fault."""
    try:
        return TypeAdapter(kind).validate_python(content)
    except ValidationError as error:
        first: Any = error.errors()[0]
        place = "".join(f"[{at}]" if isinstance(at, int) else f".{at}" for at in first["loc"])
        message = first["msg"].removeprefix("Value error, ")
        if first["type"] in ("unexpected_keyword_argument", "extra_forbidden"):
            message = "there is no such entry"
        said = f"{place.lstrip('.') or 'content'}: {message}"
        raise CrisptreeError(printable(said)) from None
