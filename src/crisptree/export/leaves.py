"""A leaf as numbers, as words and as an expression of a program."""

from collections.abc import Callable
from typing import Any

from crisptree.base.text import printable
from crisptree.crisp import CrispTree


def outputs(tree: CrispTree) -> tuple[tuple[int, ...] | tuple[float, ...], ...]:
    """What the environment gets at each node that is a leaf, as a row of plain numbers.

    Choices are counted from the environment's start. A linear leaf's row holds its constants.
    """
    start = tree.actions.start or (0,) * tree.actions.n_values
    found = []
    for node in range(tree.n_nodes):
        own = tree.action_of(node)
        row = own if isinstance(own, tuple) else (own,)
        if tree.actions.kind != "box":
            row = tuple(int(value) + first for value, first in zip(row, start, strict=True))
        found.append(row)
    return tuple(found)


def in_words(tree: CrispTree, leaf: int) -> str:
    """A leaf's action in words, safe to print."""
    own = tree.action_of(leaf)
    if not isinstance(own, tuple):
        return printable(tree.action_names[own])
    if tree.actions.kind == "multi_discrete":
        pairs = zip(tree.action_names, tree.actions.choices, own, strict=True)
        return printable(", ".join(f"{name}: {names[int(at)]}" for name, names, at in pairs))
    sums = (
        f"{name} = {sum_text(tree, leaf, at, repr, tree.feature_names.__getitem__)}"
        for at, name in enumerate(tree.action_names)
    )
    return printable(", ".join(sums))


def terms(tree: CrispTree, leaf: int, dimension: int) -> tuple[tuple[int, float], ...]:
    """`(feature, weight)` of each term added to a dimension's constant, in order."""
    return tuple(
        (gain.feature, gain.weight) for gain in tree.gains[leaf] if gain.dimension == dimension
    )


def linear_dimensions(tree: CrispTree) -> tuple[int, ...]:
    """The dimensions that some leaf computes by a formula; only these can leave their bounds."""
    return tuple(sorted({gain.dimension for gains in tree.gains for gain in gains}))


def sum_text(
    tree: CrispTree,
    leaf: int,
    dimension: int,
    literal: Callable[[float], str],
    variable: Callable[[int], str],
) -> str:
    """A dimension as an expression that is computed from left to right.

    A negative weight is subtracted: that is the same to the last bit, and every language reads it.
    """
    text = literal(float(tree.action[leaf, dimension]))
    for feature, weight in terms(tree, leaf, dimension):
        text += f" {'-' if weight < 0 else '+'} {literal(abs(weight))} * {variable(feature)}"
    return text


def asked_text(
    tree: CrispTree,
    feature: int,
    literal: Callable[[float], str],
    variable: Callable[[int], str],
) -> str:
    """What a comparison looks at: a variable, or the sum of a derived feature, to be computed from
    left to right.

    A weight of 1 is left out, but not from both of the first two terms: the variables may be
    float32, and only a product with a float64 makes it a sum of these.
    """
    sum_ = tree.features[feature].terms
    if not sum_:
        return variable(feature)
    (first, weight), *others = sum_
    is_plain = weight == 1 and not (others and abs(others[0][1]) == 1)
    text = variable(first) if is_plain else f"{literal(weight)} * {variable(first)}"
    for summed, weight in others:
        product = "" if abs(weight) == 1 else f"{literal(abs(weight))} * "
        text += f" {'-' if weight < 0 else '+'} {product}{variable(summed)}"
    return text


def observed_names(tree: CrispTree) -> tuple[str, ...]:
    """The names of the numbers of an observation."""
    return tree.feature_names[: tree.n_features]


def leaf_texts(
    tree: CrispTree, literal: Callable[[Any], str], computed: Callable[[int, int], str]
) -> list[list[str]]:
    """The numbers that the environment gets at each leaf, as a program writes them.

    `literal` writes a number; `computed` writes a dimension of a linear leaf.
    """
    linear = linear_dimensions(tree)
    return [
        [
            computed(node, at) if at in linear and tree.feature[node] < 0 else literal(value)
            for at, value in enumerate(row)
        ]
        for node, row in enumerate(outputs(tree))
    ]
