"""An expert's knowledge as a tree: a policy file, or a few lines of rules.

    # comments and blank lines are skipped
    if angle > 0.2 and angular velocity >= 0 then fire right engine
    if vertical velocity < -0.5 then fire main engine
    otherwise do nothing

The first rule whose conditions all hold decides. Features and actions go by their names or by
number (`x3`, `action 2`).
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.base.files import read_text
from crisptree.crisp import CrispTree
from crisptree.crispen.agreement import disagreement
from crisptree.crispen.prune import visited_states
from crisptree.envs.task import Task, check_fits

_CONDITION = re.compile(r"^(?P<name>.+?)\s*(?P<sign><=|>=|<|>|≤|≥)\s*(?P<number>\S+)$")
_OTHERWISE = re.compile(r"(?:otherwise|else(?!\s+if\b))\b[,:]?\s*(.*)", re.IGNORECASE)
_LONGEST = 100_000
_LARGEST = 3.4e38
MOST_LEAVES = 500


@dataclass(frozen=True)
class _Condition:
    feature: int
    threshold: float
    wants_true: bool  # holds where x > threshold, or where it does not


def read_expert(path: Path, task: Task) -> CrispTree:
    """The expert's tree for this task: a policy (`.json`, or the directory of a run) or rules."""
    if path.suffix == ".json" or path.is_dir():
        tree = CrispTree.load(path)
        try:
            check_fits(tree, task)
        except CrisptreeError as error:
            raise CrisptreeError(f"{path}: {error}") from None
        return tree
    try:
        text = read_text(path)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise CrisptreeError(f"cannot read {path}: {why}") from error
    return parse_rules(text, task, str(path))


def parse_rules(text: str, task: Task, source: str = "rules") -> CrispTree:
    """Rules in words as a crisp tree; a wrong line is named."""
    if len(text) > _LONGEST:
        raise CrisptreeError(f"{source}: more than {_LONGEST:,} characters is not a few rules")
    rules: list[tuple[list[_Condition], Any]] = []
    default: Any = None
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.split("#")[0].strip().rstrip(".;")
        if not line:
            continue
        where = f"{source}, line {number}"
        if default is not None:
            raise CrisptreeError(f"{where}: nothing can follow 'otherwise'")
        rest = _OTHERWISE.fullmatch(line)
        if rest:
            default = _action(rest[1], task, where)
        else:
            rules.append(_rule(line, task, where))
    if default is None:
        raise CrisptreeError(f"{source}: the last line must be 'otherwise ACTION'")
    return _as_tree(rules, default, task)


def _rule(line: str, task: Task, where: str) -> tuple[list[_Condition], Any]:
    match = re.fullmatch(r"(?:else\s+)?if\s+(.+?)\s+then\s+(.+)", line, re.IGNORECASE)
    if match is None:
        raise CrisptreeError(f"{where}: expected 'if FEATURE > NUMBER and … then ACTION'")
    parts = re.split(r"\s+and\s+", match[1], flags=re.IGNORECASE)
    return [_condition(part, task, where) for part in parts], _action(match[2], task, where)


def _condition(text: str, task: Task, where: str) -> _Condition:
    match = _CONDITION.match(text.strip())
    if match is None:
        raise CrisptreeError(f"{where}: '{text}' is not FEATURE > NUMBER (or <, >=, <=)")
    feature = _find(match["name"], task.feature_names, r"x(\d+)", "feature", where)
    try:
        value = float(match["number"])
    except ValueError:
        value = np.nan
    if not abs(value) < _LARGEST:
        raise CrisptreeError(f"{where}: '{match['number']}' is not a number that float32 holds")
    sign = match["sign"].replace("≤", "<=").replace("≥", ">=")
    # x >= v asks x > the float just below v, and x < v is its opposite.
    threshold = np.float32(value)
    if sign in (">=", "<"):
        threshold = np.nextafter(threshold, np.float32(-np.inf))
    return _Condition(feature, float(threshold), sign.startswith(">"))


def _action(text: str, task: Task, where: str) -> Any:
    """A choice by its name or number; a real action as numbers, one for each dimension; for
    several parts, a choice for each, with commas between."""
    kind = task.actions.kind
    if kind == "discrete":
        return _find(text, task.action_names, r"action\s*(\d+)", "action", where)
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != task.actions.n_values:
        names = ", ".join(task.action_names)
        raise CrisptreeError(f"{where}: '{text}' must have a value for each of {names}")
    if kind == "multi_discrete":
        choices = zip(parts, task.actions.choices, strict=True)
        return tuple(_find(part, names, r"(\d+)", "choice", where) for part, names in choices)
    try:
        values = [float(part) for part in parts]
    except ValueError:
        raise CrisptreeError(f"{where}: '{text}' must be numbers") from None
    for value, low, high in zip(values, task.actions.low, task.actions.high, strict=True):
        if not low <= value <= high:
            raise CrisptreeError(f"{where}: {value:g} is not between {low:g} and {high:g}")
    return tuple(values)


def _find(text: str, names: tuple[str, ...], pattern: str, what: str, where: str) -> int:
    wanted = " ".join(text.lower().replace("_", " ").split())
    for index, name in enumerate(names):
        if wanted == " ".join(name.lower().replace("_", " ").split()):
            return index
    match = re.fullmatch(pattern, wanted)
    if match and int(match[1]) < len(names):
        return int(match[1])
    raise CrisptreeError(f"{where}: no {what} '{text.strip()}'; there are {', '.join(names)}")


def _as_tree(rules: list[tuple[list[_Condition], Any]], default: Any, task: Task) -> CrispTree:
    """The tree of the rules: each is a chain of its conditions, and where one fails, the next rule
    is asked.

    With conjunctions the rest of the rules stands in several places, so the tree is simplified.
    """
    size = 1
    for conditions, _ in reversed(rules):
        size = 1 + size * len(conditions)
    if size > MOST_LEAVES:
        raise CrisptreeError(
            f"these rules make a tree of {size:,} leaves before simplifying: fewer or shorter "
            f"rules would be readable (at most {MOST_LEAVES})"
        )
    rest: Any = default
    for conditions, action in reversed(rules):
        holds: Any = action
        for condition in reversed(conditions):
            sides = (holds, rest) if condition.wants_true else (rest, holds)
            holds = (condition.feature, condition.threshold, *sides)
        rest = holds
    return CrispTree.from_nested(rest, **task.signature).simplify()


def changes(expert: CrispTree, trained: CrispTree, task: Task, seed: int = 0) -> dict[str, Any]:
    """How training changed the expert's tree: sizes, and how often the two now disagree."""
    states = visited_states(trained, task, seed)
    before, after = expert.act(states), trained.act(states)
    differs = disagreement(task.actions, before, after) > 0
    moved: dict[str, int] = {}
    if task.actions.kind == "discrete":
        for was, became in zip(before[differs], after[differs], strict=True):
            name = f"{expert.action_names[was]} → {expert.action_names[became]}"
            moved[name] = moved.get(name, 0) + 1
    return {
        "leaves": [expert.n_leaves, trained.n_leaves],
        "states": len(states),
        "changed_share": float(differs.mean()),
        "changed_actions": {
            name: count / len(states) for name, count in sorted(moved.items(), key=lambda m: -m[1])
        },
    }
