"""Write a file whole or not at all."""

import os
import secrets
from os import PathLike

from crisptree.base.errors import CrisptreeError


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
