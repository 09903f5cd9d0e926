"""`crisptree completion`: a script that lets a shell complete commands, options and file names."""

import contextlib
import importlib
import io
import re
from dataclasses import dataclass
from typing import Annotated, Literal

import tyro

BASH = """\
_crisptree() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" options=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{commands}" -- "$word"))
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{cases}
  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}}
complete -o filenames -F _crisptree crisptree
"""
ZSH = "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n"


@dataclass(frozen=True)
class Command:
    """Print a script that completes commands, options and file names in a shell.

    bash: eval "$(crisptree completion bash)" in ~/.bashrc; zsh the same in ~/.zshrc;
    fish: crisptree completion fish > ~/.config/fish/completions/crisptree.fish
    """

    shell: Annotated[
        tyro.conf.Positional[Literal["bash", "zsh", "fish"]],
        tyro.conf.arg(metavar="bash|zsh|fish"),
    ]
    """Which shell."""

    def run(self) -> None:
        from crisptree.commands.table import COMMANDS

        options = {name: options_of(name) for name in COMMANDS}
        if self.shell == "fish":
            print(fish(COMMANDS, options), end="")
        else:
            print((ZSH if self.shell == "zsh" else "") + bash(options), end="")


def options_of(name: str) -> list[str]:
    """The options that the help of a command lists."""
    from crisptree.commands.options import parsed

    command = importlib.import_module(f"crisptree.commands.{name}").Command
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        parsed(command, ["--help"], name)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", printed.getvalue())
    return sorted(set(re.findall(r"(?<![\w-])--[a-z][a-z0-9.-]*[a-z0-9]", plain)))


def bash(options: dict[str, list[str]]) -> str:
    """The script for bash."""
    cases = [f'    {name}) options="{" ".join(found)}" ;;' for name, found in options.items()]
    return BASH.format(commands=" ".join(options), cases="\n".join(cases))


def fish(commands: dict[str, str], options: dict[str, list[str]]) -> str:
    """The script for fish, which shows what each command is for."""
    lines = []
    for name, what in commands.items():
        said = what.replace("'", "’")
        lines.append(f"complete -c crisptree -n __fish_use_subcommand -f -a {name} -d '{said}'")
        within = f"'__fish_seen_subcommand_from {name}'"
        lines += [f"complete -c crisptree -n {within} -l {each[2:]}" for each in options[name]]
    return "\n".join(lines) + "\n"
