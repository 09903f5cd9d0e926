"""A tree while it is being drawn: nested, with discrete actions, cheap to change."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.envs.task import Task

Path = tuple[bool, ...]
"""The path from the root: for each question on it, whether the answer is yes."""


@dataclass(frozen=True)
class Leaf:
    action: int


@dataclass(frozen=True)
class Split:
    feature: int
    threshold: float
    if_true: "Draft"
    if_false: "Draft"


Draft = Leaf | Split


def n_leaves(draft: Draft) -> int:
    return 1 if isinstance(draft, Leaf) else n_leaves(draft.if_true) + n_leaves(draft.if_false)


def actions_of(draft: Draft, states: NDArray) -> NDArray[np.int64]:
    """The action of the draft in each row."""
    if isinstance(draft, Leaf):
        return np.full(len(states), draft.action)
    goes_true = states[:, draft.feature] > draft.threshold
    actions = np.empty(len(states), np.int64)
    actions[goes_true] = actions_of(draft.if_true, states[goes_true])
    actions[~goes_true] = actions_of(draft.if_false, states[~goes_true])
    return actions


def parts(
    draft: Draft, states: NDArray, rows: NDArray[np.int64], path: Path = ()
) -> Iterator[tuple[Path, Draft, NDArray[np.int64]]]:
    """Every node with the rows of the states that reach it, the root first."""
    yield path, draft, rows
    if isinstance(draft, Split):
        goes_true = states[rows, draft.feature] > draft.threshold
        yield from parts(draft.if_true, states, rows[goes_true], (*path, True))
        yield from parts(draft.if_false, states, rows[~goes_true], (*path, False))


def replaced(draft: Draft, path: Path, part: Draft) -> Draft:
    """The draft with another part at the end of `path`."""
    if not path:
        return part
    assert isinstance(draft, Split)
    if path[0]:
        return replace(draft, if_true=replaced(draft.if_true, path[1:], part))
    return replace(draft, if_false=replaced(draft.if_false, path[1:], part))


def draft_of(tree: CrispTree, node: int = 0) -> Draft:
    """A tree with discrete actions as a draft."""
    if tree.feature[node] < 0:
        return Leaf(int(tree.action[node]))
    below = (draft_of(tree, int(child[node])) for child in (tree.if_true, tree.if_false))
    return Split(int(tree.feature[node]), float(tree.threshold[node]), *below)


def tree_of(draft: Draft, task: Task) -> CrispTree:
    """The draft as a tree for the task, simplified."""
    rows: list[list[float]] = []

    def add(part: Draft) -> int:
        at = len(rows)
        if isinstance(part, Leaf):
            rows.append([-1, 0.0, -1, -1, part.action])
        else:
            rows.append([part.feature, part.threshold, -1, -1, -1])
            rows[at][2], rows[at][3] = add(part.if_true), add(part.if_false)
        return at

    add(draft)
    feature, threshold, if_true, if_false, action = np.array(rows).T
    tree = CrispTree(
        feature=feature.astype(int),
        threshold=threshold,
        if_true=if_true.astype(int),
        if_false=if_false.astype(int),
        action=action.astype(int),
        **task.signature,
    )
    return tree.simplify()
