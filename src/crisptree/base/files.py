"""Files are written whole or not at all, and read up to a size."""

import os
import secrets
from os import PathLike

from crisptree.base.errors import CrisptreeError

LARGEST = 64 << 20
"""Bytes; no file that is read as a whole is as large. JSON takes many times its size in memory."""


def read_bytes(path: str | PathLike[str], largest: int = LARGEST) -> bytes:
    """The content of a file, which may be a pipe; a larger one is refused."""
    with open(path, "rb") as file:
        content = file.read(largest + 1)
    if len(content) > largest:
        raise CrisptreeError(f"{path} is larger than {largest >> 20} MiB")
    return content


def read_text(path: str | PathLike[str], largest: int = LARGEST) -> str:
    """The text of a UTF-8 file; a larger one is refused."""
    return read_bytes(path, largest).decode("utf-8")


def write_atomically(path: str | PathLike[str], content: str | bytes) -> None:
    """Put `content` (text as UTF-8) at `path` in one step.

    It goes to a new file in the same folder first, reaches the disk, and then takes the name: a
    full disk or a crash leaves whatever was at `path` as it was. A symbolic link stays a link.
    """
    try:
        target = os.path.realpath(path)
    except ValueError as error:
        raise CrisptreeError(f"cannot write {str(path)!r}: {error}") from None
    if os.path.exists(target) and not os.path.isfile(target):
        raise CrisptreeError(f"cannot write {path}: it is not an ordinary file")
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name[:50]}.{secrets.token_hex(6)}.tmp")
    try:
        try:
            with open(temporary, "xb") as file:
                file.write(content.encode() if isinstance(content, str) else content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            if os.path.lexists(temporary):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise CrisptreeError(f"cannot write {path}: {error.strerror or error}") from None
