"""What is wrong with the options, in one line of plain words, from what tyro says in a box."""

import re

_OPTION = re.compile(r"^\W {5}(--[\w.-]+(?: [A-Z]+(?= ))?|[A-Z]+)(?= )", re.MULTILINE)
"""An option on a line of its own, as tyro lists what is missing and what may be meant."""
_KINDS = {"int": "a whole number", "float": "a number"}
_VALUE = re.compile(
    r"Error parsing (?P<option>--\S+): (?:no type matching (?P<kind>\w+) could be instantiated "
    r"from \[(?P<given>.*)\]|invalid literal for (?P<int>int).*?: (?P<text>'.*')"
    r"|could not convert string to (?P<float>float): (?P<word>'.*'))"
)
_CHOICE = re.compile(
    r"invalid choice (?P<given>'.*?') for argument '(?P<option>.*?)'\. Expected one of "
    r"\((?P<choices>.*)\)"
)


def in_one_line(box: str, command: str) -> str:
    """What the box says is wrong, and what would be right."""
    said = _first_words(box)
    options = _OPTION.findall(box)
    if "Required options" in box and options:
        return f"{command} needs {' and '.join(options)}"
    if "Missing subcommand" in box:
        return f"{command} needs {said[0].lower()}{said[1:]}".replace("expected ", "")
    if said.startswith("Unrecognized options: "):
        return _unknown(said.removeprefix("Unrecognized options: "), command, options)
    if said.startswith("Missing value for argument "):
        return f"{said.split(chr(39))[1]} needs a value"
    choice = _CHOICE.match(said)
    if choice:
        allowed = ", ".join(sorted(re.findall(r"'(.*?)'", choice["choices"])))
        return f"{choice['option']} cannot be {choice['given']}; it may be {allowed}"
    wrong = _VALUE.match(said)
    if wrong:
        kind = wrong["kind"] or wrong["int"] or wrong["float"]
        given = wrong["given"] or wrong["text"] or wrong["word"]
        return f"{wrong['option']} takes {_KINDS.get(kind.lower(), kind)}, not {given}"
    several = re.match(r"Error parsing (--\S+): Could not find .* arguments: \[(.*)\]", said)
    if several:
        return f"{several[1]} cannot be {several[2]}"
    return re.sub(r"^Error parsing (?:TrainConfig: )?", "", said)


def _first_words(box: str) -> str:
    """What a boxed message says first, below its title, without the box."""
    words: list[str] = []
    for line in box.splitlines()[1:]:
        inside = line.strip("│| ")
        if set(inside) <= set("╰─╯-+"):  # nothing, or a rule
            if words:
                break
        else:
            words.append(inside)
    said = " ".join(words) or " ".join(box.split())
    # Nobody types None: it stands for an option that is left out.
    return re.sub(r"\{None\}\||'None', |, 'None'", "", said).rstrip(".")


def _unknown(listed: str, command: str, close: list[str]) -> str:
    first = listed.split(", ")[0]
    if not first.startswith("--"):
        return f"{command} does not know what to do with '{first}'"
    meant = f"; did you mean {close[0].split()[0]}?" if close else ""
    return f"{command} has no option {first}{meant}"
