"""How firmly a tree decides: the least change that flips an action, dead leaves, coverage.

Distances are the largest change of any feature (L∞), in the features' own units or by scales that
are given. A leaf's region is `low < x <= high`; a distance to it is the infimum, since its lower
side is open.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crisptree.base.errors import CrisptreeError
from crisptree.base.files import read_text
from crisptree.base.text import printable
from crisptree.crisp import Condition, CrispTree
from crisptree.verify.boxes import NotABoxError, as_box
from crisptree.verify.grammar import Names
from crisptree.verify.language import parse_condition
from crisptree.verify.leaf_questions import Leaves

ROWS = 4_096
BISECTIONS = 60
MOST_EPISODES = 10_000


def radii(
    tree: CrispTree,
    observations: NDArray,
    *,
    tolerance: float = 0.0,
    scales: Sequence[float] | None = None,
) -> NDArray[np.float64]:
    """How far every feature may move at each observation `(B, F)` before the action changes.

    Choices change when they are others; a real action when a dimension moves by more than
    `tolerance`. inf where nothing changes it.
    """
    rows = np.atleast_2d(np.asarray(observations, np.float64))
    found = [_radii(tree, part, tolerance, scales) for part in _parts(rows)]
    return np.concatenate(found) if found else np.empty(0)


def _parts(rows: NDArray) -> list[NDArray]:
    return [rows[at : at + ROWS] for at in range(0, len(rows), ROWS)]


def _radii(
    tree: CrispTree, rows: NDArray, tolerance: float, scales: Sequence[float] | None
) -> NDArray[np.float64]:
    leaves = Leaves.of(tree)
    scale = np.ones(tree.n_features) if scales is None else np.asarray(scales, np.float64)
    own = tree.act(rows).reshape(len(rows), -1)
    best = np.full(len(rows), np.inf)
    for row in np.flatnonzero(~leaves.is_dead).tolist():
        distance = _distance(leaves, row, rows, scale)
        if tree.is_linear:
            reached = _first_change(leaves, row, rows, own, distance, tolerance, scale)
        else:
            held = np.atleast_1d(tree.action[leaves.numbers[row]]).astype(np.float64)
            differs = (np.abs(own - held) > tolerance).any(axis=1)
            reached = np.where(differs, distance, np.inf)
        best = np.minimum(best, reached)
    return best


def _distance(leaves: Leaves, row: int, rows: NDArray, scale: NDArray) -> NDArray[np.float64]:
    """How far each observation is from a leaf's region."""
    beyond = np.maximum(leaves.low[row] - rows, rows - leaves.high[row])
    return (np.maximum(beyond, 0.0) / scale).max(axis=1)


def _first_change(
    leaves: Leaves,
    row: int,
    rows: NDArray,
    own: NDArray,
    distance: NDArray,
    tolerance: float,
    scale: NDArray,
) -> NDArray[np.float64]:
    """The least distance at which a linear leaf takes an action off by more than the tolerance."""

    def changes(radius: NDArray) -> NDArray[np.bool_]:
        reach = radius[:, None] * scale
        low = np.maximum(leaves.low[row], rows - reach)
        high = np.minimum(leaves.high[row], rows + reach)
        met = (low <= high).all(axis=1)
        weights, tree = leaves.weights[row], leaves.tree
        constant = tree.action[leaves.numbers[row]].astype(np.float64)
        ends = np.stack([weights[None] * low[:, None], weights[None] * high[:, None]])
        least = constant + ends.min(axis=0).sum(axis=2)
        most = constant + ends.max(axis=0).sum(axis=2)
        least = np.clip(least, tree.actions.low, tree.actions.high)
        most = np.clip(most, tree.actions.low, tree.actions.high)
        off = np.maximum(most - own, own - least)
        return met & (off > tolerance).any(axis=1)

    with np.errstate(invalid="ignore"):
        far = np.full(len(rows), 1e6)
        ever = changes(far)
        low, high = distance, far
        for _ in range(BISECTIONS):
            middle = low / 2 + high / 2
            changed = changes(middle)
            low, high = np.where(changed, low, middle), np.where(changed, middle, high)
    return np.where(ever, high, np.inf)


@dataclass(frozen=True)
class Flip:
    """The least change of an observation that changes what is done."""

    leaf: int
    action: str
    radius: float | None
    """None where nothing changes it."""
    changes: Mapping[str, float]
    """The features to change, and to what."""
    instead: str | None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def nearest_flip(
    tree: CrispTree, observation: Sequence[float], scales: Sequence[float] | None = None
) -> Flip:
    """The nearest observation with another action (another leaf's, for linear leaves)."""
    x = np.asarray(observation, np.float64)
    leaf = int(tree.apply(x))
    leaves = Leaves.of(tree)
    scale = np.ones(tree.n_features) if scales is None else np.asarray(scales, np.float64)
    best: tuple[float, int] | None = None
    for row in np.flatnonzero(~leaves.is_dead).tolist():
        other = int(leaves.numbers[row])
        if other == leaf or (not tree.is_linear and tree.action_of(other) == tree.action_of(leaf)):
            continue
        distance = float(_distance(leaves, row, x[None], scale)[0])
        if best is None or distance < best[0]:
            best = distance, row
    own = said(tree, tree.act(x[None])[0])
    if best is None:
        return Flip(leaf, own, None, {}, None)
    moved = _just_inside(leaves, best[1], x)
    changes = {
        name: float(new)
        for name, old, new in zip(tree.feature_names, x, moved, strict=True)
        if new != old
    }
    instead = said(tree, tree.act(moved[None])[0])
    return Flip(leaf, own, best[0], changes, instead)


def _just_inside(leaves: Leaves, row: int, x: NDArray) -> NDArray[np.float64]:
    """The point of a leaf's region next to an observation."""
    above = np.nextafter(leaves.low[row], np.inf)
    return np.minimum(np.where(x <= leaves.low[row], above, x), leaves.high[row])


@dataclass(frozen=True)
class LeafFact:
    """What is certain of a leaf."""

    leaf: int
    action: str
    is_reachable: bool
    half_width: float
    """Half of its narrowest side: an observation at its middle may move by so much; 0 if nothing
    reaches it."""
    where: tuple[Condition, ...]

    def to_dict(self) -> dict[str, Any]:
        width = None if np.isinf(self.half_width) else self.half_width
        return {
            "leaf": self.leaf,
            "action": self.action,
            "reachable": self.is_reachable,
            "half_width": width,
        }


def leaf_facts(tree: CrispTree) -> list[LeafFact]:
    """Each leaf: whether any observation reaches it, and how wide its region is."""
    leaves = Leaves.of(tree)
    found = []
    for row, visit in enumerate(tree.leaves()):
        width = (leaves.high[row] - leaves.low[row]).min() / 2
        found.append(
            LeafFact(
                visit.node,
                held(tree, visit.node),
                not bool(leaves.is_dead[row]),
                max(0.0, float(width)),
                tuple(visit.conditions.values()),
            )
        )
    return found


@dataclass(frozen=True)
class Coverage:
    """Which leaves an operating domain meets."""

    shares: Mapping[int, float]
    """The share of the domain's volume that each leaf decides."""
    unmet: tuple[int, ...]
    """Leaves that no observation of the domain reaches."""


def coverage(tree: CrispTree, domain: ArrayLike) -> Coverage:
    """How a box of observations is divided among the leaves."""
    box = np.asarray(domain, np.float64)
    if box.shape != (tree.n_features, 2) or not np.isfinite(box).all():
        raise CrisptreeError(
            f"an operating domain is {tree.n_features} pairs of finite bounds; this is {box.shape}"
        )
    leaves = Leaves.of(tree)
    low, high = np.maximum(leaves.low, box[:, 0]), np.minimum(leaves.high, box[:, 1])
    width = box[:, 1] - box[:, 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = np.where(width > 0, (high - low) / width, (low <= high).astype(float))
    met = ((low < high) | ((low <= high) & (leaves.low < box[:, 0]))).all(axis=1) & ~leaves.is_dead
    shares = np.where(met, np.clip(parts, 0.0, 1.0).prod(axis=1), 0.0)
    numbers = leaves.numbers.tolist()
    return Coverage(
        dict(zip(numbers, shares.tolist(), strict=True)),
        tuple(leaf for leaf, is_met in zip(numbers, met, strict=True) if not is_met),
    )


@dataclass(frozen=True)
class Along:
    """How firmly a tree decides along episodes."""

    observations: int
    least: float
    """How far every feature may move at any of them without another action; inf where nothing
    changes it."""
    tenth: float
    median: float
    where: tuple[float, ...]
    """The observation where it is least."""

    def to_dict(self) -> dict[str, Any]:
        found = asdict(self)
        return {name: None if value == np.inf else value for name, value in found.items()}


def along(tree: CrispTree, observations: NDArray) -> Along:
    """The robustness radii of many observations, in a few numbers; for linear leaves, whose action
    changes with every observation, how far another leaf is."""
    rows = np.asarray(observations, np.float64)
    found = _to_other_leaves(tree, rows) if tree.is_linear else radii(tree, rows)
    at = int(np.argmin(found))
    tenth, median = (float(np.quantile(found, q, method="lower")) for q in (0.1, 0.5))
    return Along(len(found), float(found[at]), tenth, median, tuple(rows[at].tolist()))


def _to_other_leaves(tree: CrispTree, rows: NDArray) -> NDArray[np.float64]:
    leaves, own, best = Leaves.of(tree), tree.apply(rows), np.full(len(rows), np.inf)
    for row in np.flatnonzero(~leaves.is_dead).tolist():
        distance = _distance(leaves, row, rows, np.ones(tree.n_features))
        best = np.where(own == leaves.numbers[row], best, np.minimum(best, distance))
    return best


def observations_of(
    source: str, tree: CrispTree, env: str | None = None, features: str | None = None
) -> NDArray:
    """The rows of a CSV file, or what is met in so many episodes of the policy's environment, or of
    the one that the caller names."""
    if source.isdecimal():
        from crisptree.envs.rollout import rollout
        from crisptree.envs.seeds import episode_seeds
        from crisptree.envs.task import task_of_policy

        episodes = int(source) if len(source) < 10 else MOST_EPISODES + 1
        if not 1 <= episodes <= MOST_EPISODES:
            raise CrisptreeError(f"--along takes 1 … {MOST_EPISODES:,} episodes, or a CSV file")
        seeds = episode_seeds("reporting", 0, episodes)
        task = task_of_policy(tree, env, features)
        seen = rollout([tree], task, seeds, record=True).observations
        assert seen is not None
        return seen
    try:
        rows = [row for row in csv.reader(io.StringIO(read_text(source))) if row]
        is_header = bool(rows) and not any(map(_is_number, rows[0]))
        found = np.array([[float(each) for each in row] for row in rows[is_header:]], np.float64)
    except (OSError, ValueError, csv.Error) as error:
        raise CrisptreeError(f"cannot read observations in {printable(source)}: {error}") from None
    if found.ndim != 2 or found.shape[1] != tree.n_features or not np.isfinite(found).all():
        raise CrisptreeError(
            f"{printable(source)} must have {tree.n_features} finite numbers a row, one a feature; "
            f"it has {found.shape[1] if found.ndim == 2 else 0}"
        )
    return found


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def domain_of(text: str, tree: CrispTree) -> NDArray[np.float64]:
    """An operating domain as bounds of every feature, from a condition in words."""
    condition = parse_condition(text, Names(tree.feature_names, (), ()))
    try:
        box = as_box(condition, tree.n_features)
    except NotABoxError:
        raise CrisptreeError(
            "a domain must be comparisons of single features with numbers, joined by 'and'"
        ) from None
    open_ = [
        name
        for name, pair in zip(tree.feature_names, box, strict=True)
        if not np.isfinite(pair).all()
    ]
    if open_:
        raise CrisptreeError(f"a domain bounds every feature from both sides; {open_[0]!r} has not")
    if (box[:, 0] > box[:, 1]).any():
        raise CrisptreeError("no observation lies in that domain")
    return box


def held(tree: CrispTree, leaf: int) -> str:
    """A leaf's action in words."""
    if tree.gains[leaf]:
        return "linear"
    return said(tree, np.asarray(tree.action[leaf]))


def said(tree: CrispTree, action: Any) -> str:
    """An action in words."""
    values, actions = np.atleast_1d(action).tolist(), tree.actions
    if actions.kind == "discrete":
        return actions.names[int(values[0])]
    if actions.kind == "multi_discrete":
        chosen = zip(actions.names, actions.choices, values, strict=True)
        return ", ".join(f"{name} {choices[int(at)]}" for name, choices, at in chosen)
    return ", ".join(f"{name} {v:.6g}" for name, v in zip(actions.names, values, strict=True))


def numbers_of(text: str, tree: CrispTree) -> list[float]:
    """The numbers of an observation from a text."""
    try:
        values = [float(part) for part in text.replace(",", " ").split()]
    except ValueError:
        values = []
    if len(values) != tree.n_features or not np.isfinite(values).all():
        raise CrisptreeError(f"an observation is {tree.n_features} numbers; this is {text!r:.60}")
    return values
