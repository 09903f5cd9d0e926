"""`crisptree completion`: a script that lets a shell complete commands, options and file names."""

import importlib
from dataclasses import dataclass
from typing import Annotated, Literal

from crisptree.commands.options import options_of, positional

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
        Literal["bash", "zsh", "fish"],
        positional("SHELL"),
    ]
    """Which one: bash, zsh or fish."""

    def run(self) -> None:
        from crisptree.commands.table import COMMANDS

        options = {name: option_names(name) for name in COMMANDS}
        if self.shell == "fish":
            print(fish(COMMANDS, options), end="")
        else:
            print((ZSH if self.shell == "zsh" else "") + bash(options), end="")


def option_names(name: str) -> list[str]:
    """The options of a command, and of its parts."""
    module = importlib.import_module(f"crisptree.commands.{name}")
    kinds = module.PARTS.values() if hasattr(module, "PARTS") else [module.Command]
    known = {each.name for kind in kinds for each in options_of(kind)}
    return sorted({"--help", *(each for each in known if each.startswith("--"))})


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
