"""`crisptree …`: commands, each a file in `commands/` that is imported only when called.

A command file has one dataclass, `Command`, whose fields (with their docstrings) are its options
and whose `run()` does the work. This file knows nothing else about them, so `crisptree --help`
and the commands that need no JAX start at once.
"""

import difflib
import importlib
import os
import sys
from typing import NoReturn

from crisptree.base.errors import CrisptreeError
from crisptree.base.interrupts import interrupts_end
from crisptree.base.text import printable
from crisptree.commands.table import COMMANDS


def usage() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {what}" for name, what in COMMANDS.items()]
    return "\n".join(
        [
            "usage: crisptree COMMAND [options]",
            "",
            *lines,
            "",
            "crisptree COMMAND --help says more.",
        ]
    )


def main(arguments: list[str] | None = None) -> None:
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        try:
            with interrupts_end():
                _answer(arguments)
        finally:
            sys.stdout.flush()  # a full disk is noticed here, not when Python ends
    except CrisptreeError as error:
        fail(str(error))
    except ImportError as error:
        from crisptree.base.extras import missing_extra

        message = missing_extra(error, " ".join(["crisptree", *arguments[:1]]))
        if message is None:
            raise
        fail(message)
    except BrokenPipeError:
        sys.stderr.close()
    except OSError as error:  # the machine's: a disk that is full, a folder that went away
        _drop_what_cannot_be_written()
        where = "" if error.filename is None else f"{error.filename}: "
        fail(f"cannot go on: {where}{error.strerror or error}")
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)


def _drop_what_cannot_be_written() -> None:
    """Python would try once more at its end, and complain."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _answer(arguments: list[str]) -> None:
    if not arguments or arguments[0] in ("-h", "--help"):
        print(usage())
        sys.exit(0 if arguments else 2)
    name, *rest = arguments
    if name == "--version":
        from crisptree.base.version import crisptree_version

        print(crisptree_version())
    elif name not in COMMANDS:
        raise CrisptreeError(_unknown(name))
    else:
        run(name, rest)


def _unknown(name: str) -> str:
    if name.startswith("-"):
        return f"unknown option '{name}'; crisptree --help lists the commands"
    close = difflib.get_close_matches(name, COMMANDS, n=1)
    if close:
        return f"unknown command '{name}'; did you mean {close[0]}?"
    return f"unknown command '{name}'; the commands are {', '.join(COMMANDS)}"


def run(name: str, arguments: list[str]) -> None:
    """Parse the options of a command and run it."""
    from crisptree.commands.options import parsed

    module = importlib.import_module(f"crisptree.commands.{name.replace('-', '_')}")
    if "--help-all" in arguments and hasattr(module, "help_all"):
        module.help_all()
        return
    plain, dotted = module.split(arguments) if hasattr(module, "split") else (arguments, [])
    command = parsed(module.Command, plain, name)
    if hasattr(module, "split"):
        command.run(dotted)
    else:
        command.run()


def fail(message: str) -> NoReturn:
    print(f"crisptree: {printable(' '.join(message.split()))}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    main()
