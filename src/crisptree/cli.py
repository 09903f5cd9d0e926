"""`crisptree …`: commands, each a file in `commands/` that is imported only when called.

A command file has one dataclass, `Command`, whose fields (with their docstrings) are its options
and whose `run()` does the work. This file knows nothing else about them, so `crisptree --help`
and the commands that need no JAX start at once.
"""

import difflib
import importlib
import os
import sys
from contextlib import suppress
from typing import Any, NoReturn

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
    except MemoryError:
        fail("this takes more memory than there is")
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
    if arguments[:1] == ["help"]:  # `crisptree help show` is `crisptree show --help`
        arguments = [*arguments[1:2], "--help"]
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
    """Parse the options of a command and run it, or print its help."""
    from crisptree.commands.help_page import help_of
    from crisptree.commands.parser import asks_for_help, parsed

    module = importlib.import_module(f"crisptree.commands.{name.replace('-', '_')}")
    if "--help-all" in arguments and hasattr(module, "help_all"):
        module.help_all()
        return
    if hasattr(module, "PARTS"):
        part, *arguments = _part(name, module, arguments)
        kind, name = module.PARTS[part], f"{name} {part}"
    else:
        kind = module.Command
    if asks_for_help(arguments):
        print(help_of(kind, name), end="")
        sys.exit(0)
    if not hasattr(module, "split"):
        parsed(kind, arguments, name).run()
        return
    plain, dotted = module.split(arguments)
    parsed(kind, plain, name, others=module.other_options).run(dotted)


def _part(name: str, module: Any, arguments: list[str]) -> list[str]:
    """The arguments of a command that has commands of its own; the first one names it."""
    from crisptree.commands.help_page import help_of_parts

    if arguments and arguments[0] in ("-h", "--help"):
        print(help_of_parts(module.ABOUT, name, module.PARTS), end="")
        sys.exit(0)
    if not arguments or arguments[0] not in module.PARTS:
        close = difflib.get_close_matches(arguments[0], module.PARTS, n=1) if arguments else []
        meant = f", not '{arguments[0]}'" if arguments else ""
        meant += f"; did you mean {close[0]}?" if close else ""
        raise CrisptreeError(f"{name} needs one of {', '.join(module.PARTS)}{meant}")
    return arguments


def fail(message: str) -> NoReturn:
    line = f"crisptree: {printable(' '.join(message.split()))}"
    for stream in (sys.stderr, sys.stdout):  # somebody may have closed the first
        with suppress(OSError, ValueError):
            print(line, file=stream, flush=True)
            break
    sys.exit(2)


if __name__ == "__main__":
    main()
