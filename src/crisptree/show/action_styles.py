"""Which colours the leaves of one tree have, and the legend that says what they mean."""

from typing import NamedTuple

from crisptree.crisp import CrispTree
from crisptree.show.palette import ACTION_COLOURS, NEUTRAL, Style, ValueScale, style_of
from crisptree.show.wording import Wording


class LegendEntry(NamedTuple):
    """An action that the tree takes, and how its leaves are painted."""

    label: str
    style: Style


class LegendScale(NamedTuple):
    """A dimension of a real vector: the colours from its least to its greatest value."""

    label: str
    low: str
    high: str
    colours: tuple[str, ...]


class ActionStyles:
    """The styles of one tree's leaves.

    Each action that is chosen from a list has a colour of its own, the same in every tree of up to
    twelve actions; a real number is coloured by its size; a leaf of several numbers is white and
    has a swatch for each.
    """

    def __init__(self, tree: CrispTree, wording: Wording) -> None:
        self._tree = tree
        self._wording = wording
        self._leaves = [leaf for leaf in tree.order if tree.feature[leaf] < 0]
        if tree.actions.kind == "box":
            self._places: dict[object, int] = {}
            bounds = zip(tree.actions.low, tree.actions.high, strict=True)
            self.scales = [ValueScale(low, high) for low, high in bounds]
        else:
            used = sorted({self._key(leaf) for leaf in self._leaves})
            by_number = tree.actions.kind == "discrete" and tree.n_actions <= len(ACTION_COLOURS)
            self._places = {key: key[0] if by_number else at for at, key in enumerate(used)}
            self.scales = []

    def of(self, leaf: int) -> Style:
        """How the leaf's box is painted."""
        if self._tree.actions.kind != "box":
            return style_of(self._places[self._key(leaf)])
        if len(self.scales) > 1:
            return NEUTRAL
        value = self._wording.actions.value(leaf, 0)
        return NEUTRAL if value is None else self.scales[0].style(value)

    def swatches(self, leaf: int) -> tuple[str | None, ...]:
        """For a leaf with several constant numbers, the colour of each number."""
        if len(self.scales) < 2:
            return ()
        values = [self._wording.actions.value(leaf, at) for at in range(len(self.scales))]
        return tuple(
            None if value is None else scale.colour(value)
            for value, scale in zip(values, self.scales, strict=True)
        )

    def legend(self) -> list[LegendEntry | LegendScale]:
        """What the colours mean, in the order of the actions."""
        if self.scales:
            return [self._legend_scale(at, scale) for at, scale in enumerate(self.scales)]
        first_leaf = {self._key(leaf): leaf for leaf in reversed(self._leaves)}
        return [
            LegendEntry(self._wording.actions.of(first_leaf[key]), self.of(first_leaf[key]))
            for key in sorted(first_leaf)
        ]

    def _key(self, leaf: int) -> tuple[int, ...]:
        action = self._tree.action[leaf].tolist()
        return (action,) if isinstance(action, int) else tuple(action)

    def _legend_scale(self, dimension: int, scale: ValueScale) -> LegendScale:
        said = self._wording.actions
        return LegendScale(
            said.names[dimension], said.number(scale.low), said.number(scale.high), scale.sampled()
        )
