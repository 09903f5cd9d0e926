"""The action of a leaf as JSON, with names instead of numbers."""

from typing import Any

from crisptree.crisp import CrispTree, Rule
from crisptree.crisp.nested import Leaf


def action_json(tree: CrispTree, held: Leaf | Rule) -> Any:
    """An action's name, or each part's choice, or each dimension's number.

    A number that features decide has its constant and its gains.
    """
    actions = tree.actions
    if isinstance(held.action, int):
        return actions.names[held.action]
    if actions.kind == "multi_discrete":
        chosen = zip(actions.names, actions.choices, held.action, strict=True)
        return {name: choices[int(choice)] for name, choices, choice in chosen}
    values: dict[str, Any] = {}
    for at, (name, constant) in enumerate(zip(actions.names, held.action, strict=True)):
        gains = {
            tree.feature_names[gain.feature]: gain.weight
            for gain in held.gains
            if gain.dimension == at
        }
        values[name] = {"constant": constant, "gains": gains} if gains else constant
    return values
