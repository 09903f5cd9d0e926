"""The crisp tree: a policy as parallel arrays, one row per node, root first."""

import importlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError
from crisptree.base.files import write_atomically
from crisptree.crisp import checks, policy_file, policy_format, signature_checks, structure
from crisptree.crisp.derived import n_observed, terms_of, with_columns, with_sums
from crisptree.crisp.linear import Formula, Gain, formula, vector_of, vectors_of
from crisptree.crisp.metadata import check_origin, plain_json, plain_object
from crisptree.crisp.nested import Action, Leaf, columns, reader
from crisptree.crisp.route import Nodes, as_numbers, as_plain_list, leaf_of, leaves_of, path_of
from crisptree.crisp.rules import Rule
from crisptree.crisp.signature import Actions, Feature, Terms
from crisptree.crisp.simplify import simplify
from crisptree.crisp.walk import Visit, depths, top_down, walk


@dataclass(frozen=True, eq=False, repr=False)
class CrispTree:
    """A deterministic decision-tree policy over raw observations.

    A node is TRUE when `x[feature] > threshold` (Eq. 3), compared in float64. The arrays are
    read-only copies; the constructor refuses whatever is not one binary tree rooted at node 0.
    Names alone describe a tree of discrete actions; `features` and `actions` say more. Trees with
    the same content are equal.
    """

    feature: np.ndarray
    """int32 `(nodes,)`: the feature a node looks at, -1 at a leaf."""
    threshold: np.ndarray
    """float64 `(nodes,)`: what the feature is compared with, 0.0 at a leaf."""
    if_true: np.ndarray
    """int32 `(nodes,)`: the child where the node is TRUE, -1 at a leaf."""
    if_false: np.ndarray
    """int32 `(nodes,)`: the child where the node is FALSE, -1 at a leaf."""
    action: np.ndarray
    """A leaf's action. Discrete: int32 `(nodes,)`, -1 at an inner node. Multi-discrete: int32
    `(nodes, parts)`, -1 at an inner node. Box: float64 `(nodes, dimensions)`, 0.0 at an inner
    node."""
    feature_names: tuple[str, ...] = ()
    action_names: tuple[str, ...] = ()
    """The names of the actions, or of the parts or dimensions of one."""
    env_id: str | None = None
    training: Mapping[str, Any] = field(default_factory=dict)
    """How the tree came about: free metadata, anything JSON can say."""
    features: tuple[Feature, ...] = ()
    """What is known of each feature; numbers with `feature_names` if not given. Those that follow
    from others (`Feature.terms`) stand last: no observation has them."""
    actions: Actions = None  # type: ignore[assignment]
    """What the policy may do; one of `action_names` if not given."""
    gains: tuple[tuple[Gain, ...], ...] = ()
    """Of each node: `(dimension, feature, weight)` of a linear leaf, `()` of all others."""
    env_kwargs: Mapping[str, Any] = field(default_factory=dict)
    """What the environment was made with, besides its id."""
    feature_function: str | None = None
    """`module:name` of the function that makes features of the environment's observations."""

    def __post_init__(self) -> None:
        self._set("features", signature_checks.features(self.features, self.feature_names))
        self._set("actions", signature_checks.actions(self.actions, self.action_names))
        self._set("feature_names", tuple(feature.name for feature in self.features))
        self._set("action_names", self.actions.names)
        for name in ("feature", "if_true", "if_false"):
            self._set(name, checks.whole_numbers(f"tree.{name}", getattr(self, name)))
        self._set("threshold", checks.finite_numbers("tree.threshold", self.threshold))
        of_kind = checks.finite_numbers if self.actions.kind == "box" else checks.whole_numbers
        ndim = 1 if self.actions.kind == "discrete" else 2
        self._set("action", of_kind("tree.action", self.action, ndim))
        arrays = (self.feature, self.threshold, self.if_true, self.if_false, self.action)
        structure.binary_tree(*arrays, len(self.features))
        is_leaf = self.feature == -1
        gains = structure.gains(self.gains, is_leaf, self.n_features, self.actions)
        self._set("gains", gains)
        structure.leaf_actions(self.action, gains, is_leaf, self.actions)
        for name in ("training", "env_kwargs"):
            self._set(name, plain_object(name, getattr(self, name)))
        check_origin(self.env_id, self.feature_function)

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @classmethod
    def leaf(
        cls,
        action: Any,
        feature_names: Sequence[str] = (),
        action_names: Sequence[str] = (),
        env_id: str | None = None,
        training: Mapping[str, Any] | None = None,
        **others: Any,
    ) -> "CrispTree":
        """The tree that always takes one action; see `from_nested`."""
        return cls.from_nested(action, feature_names, action_names, env_id, training, **others)

    @classmethod
    def from_nested(
        cls,
        nested: Any,
        feature_names: Sequence[str] = (),
        action_names: Sequence[str] = (),
        env_id: str | None = None,
        training: Mapping[str, Any] | None = None,
        *,
        features: Sequence[Feature] = (),
        actions: Actions | None = None,
        **others: Any,
    ) -> "CrispTree":
        """A tree written by hand: an inner node is `(feature, threshold, if_true, if_false)`, a
        leaf its action; features and actions by name or by number.

        A leaf of several values is a list, or a mapping from names. In a linear leaf a value is
        `(constant, {feature: weight, …})`.

        Examples:
            >>> names = ("angle", "velocity")
            >>> tree = CrispTree.from_nested(("velocity", 0.24, 1, 0), names, ("left", "right"))
            >>> torque = Actions.box(("torque",), (-2.0,), (2.0,))
            >>> leaf = {"torque": (0.5, {"velocity": -3.1})}
            >>> tree = CrispTree.from_nested(("angle", 0.0, leaf, [-2.0]), names, actions=torque)
        """
        known = signature_checks.features(tuple(features), tuple(feature_names))
        possible = signature_checks.actions(actions, tuple(action_names))
        return cls(
            **columns(nested, reader(tuple(feature.name for feature in known), possible)),
            features=known,
            actions=possible,
            env_id=env_id,
            training=training or {},
            **others,
        )

    def __repr__(self) -> str:
        about = f"{self.n_leaves} {'leaf' if self.n_leaves == 1 else 'leaves'}"
        if self.is_linear:
            about = f"{about}, linear"
        counted = {
            "discrete": "actions",
            "multi_discrete": "parts of an action",
            "box": "dimensions of an action",
        }[self.actions.kind]
        about = f"{about}, depth {self.depth}, {self.n_features} features"
        return f"CrispTree({about}, {self.n_actions} {counted}, env_id={self.env_id!r})"

    def _repr_svg_(self) -> str | None:
        """A notebook's drawing of the tree."""
        try:
            return importlib.import_module("crisptree.show").as_svg(self)
        except (ImportError, CrisptreeError):
            return None

    def _repr_html_(self) -> str | None:
        """A notebook's drawing of the tree, no wider than the page."""
        drawing = self._repr_svg_()
        return drawing and f'<div style="max-width: 100%; overflow-x: auto">{drawing}</div>'

    def as_html(self, **options: Any) -> str:
        """The page to explore the tree, as `crisptree.as_html` writes it."""
        return importlib.import_module("crisptree.show").as_html(self, **options)

    def report(self, out: str | PathLike[str] | None = None, **request: Any) -> str:
        """The reviewer's page as HTML, which is also written to the file `out` if it is given.

        `request` is what `crisptree.report.Request` takes.
        """
        report = importlib.import_module("crisptree.report")
        asked = report.requested(**request)
        if out is not None:
            report.check_suffix(out)
        page = report.as_page(report.gathered(self, asked))
        if out is not None:
            write_atomically(out, report.in_file(page, out))
        return page

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CrispTree):
            return NotImplemented
        return all(
            np.array_equal(mine, theirs) if isinstance(mine, np.ndarray) else mine == theirs
            for mine, theirs in (
                (getattr(self, each.name), getattr(other, each.name)) for each in fields(self)
            )
        )

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        arrays = (self.feature, self.threshold, self.if_true, self.if_false, self.action)
        content = tuple(array.tobytes() for array in arrays)
        return hash((content, self.gains, self.features, self.actions, self.env_id))

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        """Copies and pickles go through the constructor, so theirs are read-only too."""
        return type(self), tuple(getattr(self, each.name) for each in fields(self))

    @property
    def n_nodes(self) -> int:
        """Inner nodes and leaves together."""
        return len(self.feature)

    @cached_property
    def n_features(self) -> int:
        """Numbers of an observation; derived features are not counted."""
        return n_observed(self.features)

    @property
    def n_actions(self) -> int:
        """The number of actions, or of the parts or dimensions of one."""
        return len(self.action_names)

    @property
    def n_leaves(self) -> int:
        return (self.n_nodes + 1) // 2

    @cached_property
    def depth(self) -> int:
        """The most comparisons an observation can meet; 0 for a lone leaf."""
        return max(depths(self.nodes))

    @cached_property
    def is_linear(self) -> bool:
        """Whether a leaf's action depends on the observation."""
        return any(self.gains)

    @property
    def is_rule_list(self) -> bool:
        """Whether every node has a leaf beside it: if … then …, else if … then …, otherwise …

        A rule asks x > t (its TRUE child is the leaf) or x ≤ t (its FALSE child is).
        """
        inner, leaf = self.feature >= 0, self.feature == -1
        return bool((leaf[self.if_true[inner]] | leaf[self.if_false[inner]]).all())

    def predict(
        self,
        obs: object,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = True,
    ) -> tuple[Any, Any]:
        """`(action, state)` for one observation `(F,)` or a batch `(B, F)`.

        The action is the environment's: in its dtype and shape, counted from its start, within its
        bounds. The signature is the one Stable-Baselines3's `evaluate_policy` calls; a crisp tree
        has no state and nothing to sample, so the last three change nothing.
        """
        if self.is_linear:
            found = self._vectors(obs, self._dtype)
            shape = self.actions.shape
            return found.reshape(found.shape[:-1] + shape) if shape else found, state
        found = self._answers[self.apply(obs)]
        return found.copy() if found.ndim else found, state

    def act(self, observations: object) -> NDArray:
        """The policy's own actions for rows `(B, F)`, as rollouts and learners count them.

        Choices from 0, `(B,)` or `(B, parts)`, int64; or vectors within bounds, `(B, dimensions)`,
        float64.
        """
        if self.is_linear:
            return self._vectors(observations, np.dtype(np.float64))
        return self._own_actions.take(self.apply(observations), 0)

    def apply(self, obs: object) -> Any:
        """The leaf, as a node index, that one observation or each row of a batch reaches."""
        values = self._values(obs)
        if isinstance(values, list):
            return np.int64(leaf_of(self.nodes, values))
        return leaves_of(self.nodes, values)

    def columns(self, obs: object) -> NDArray:
        """Observations with a number for each of `features`, the derived ones computed.

        Rows that have these already stay as they are.
        """
        if self._derived and np.shape(obs)[-1:] == (len(self.features),):  # type: ignore[arg-type]
            return as_numbers(obs, len(self.features))
        return with_columns(as_numbers(obs, self.n_features), self._derived)

    def _values(self, obs: object) -> list[float] | NDArray:
        """A number for each feature: a plain list for one observation, rows for a batch."""
        values = as_plain_list(obs, self.n_features)
        if values is not None:
            return with_sums(values, self._derived) if self._derived else values
        numbers = self.columns(obs)
        return numbers if numbers.ndim == 2 else numbers.astype(np.float64).tolist()

    @cached_property
    def _derived(self) -> tuple[Terms, ...]:
        return terms_of(self.features)

    def decision_path(self, obs: object) -> tuple[int, ...]:
        """The nodes one observation passes, from the root to its leaf."""
        values = self._values(obs)
        if not isinstance(values, list):
            raise CrisptreeError(
                f"decision_path takes one observation of shape ({self.n_features},); "
                f"this one has {values.shape}"
            )
        return path_of(self.nodes, values)

    @cached_property
    def nodes(self) -> Nodes:
        """`(feature, threshold, if_true, if_false)` of every node, as plain Python numbers."""
        columns = (self.feature, self.threshold, self.if_true, self.if_false)
        return list(zip(*(column.tolist() for column in columns), strict=True))

    @cached_property
    def _own_actions(self) -> NDArray:
        return self.action.astype(np.float64 if self.actions.kind == "box" else np.int64)

    @cached_property
    def _dtype(self) -> np.dtype:
        return np.dtype(self.actions.dtype)

    @cached_property
    def _answers(self) -> NDArray:
        """The environment's action at each leaf; the entries of inner nodes are not used."""
        start = self.actions.start or 0
        found = (self._own_actions + start).astype(self._dtype)
        return found.reshape((-1, *self.actions.shape)) if self.actions.shape else found

    @cached_property
    def _formulas(self) -> list[Formula]:
        pairs = zip(self.action.tolist(), self.gains, strict=True)
        return [formula(constants, gains, self.actions) for constants, gains in pairs]

    def _vectors(self, obs: object, dtype: np.dtype) -> NDArray:
        """Actions of linear leaves, for one observation or for each row of a batch."""
        values = self._values(obs)
        if not isinstance(values, list):
            leaves = leaves_of(self.nodes, values)
            return vectors_of(self.action, self.gains, leaves, values, self.actions).astype(dtype)
        leaf = leaf_of(self.nodes, values)
        return np.array(vector_of(self._formulas[leaf], values), dtype)

    def walk(self) -> Iterator[Visit]:
        """Every node with its depth, its parent and the conditions that lead to it.

        Parents come before their children, TRUE before FALSE; `order` has the numbers alone.
        """
        return walk(self.nodes)

    def leaves(self) -> Iterator[Visit]:
        """The leaves as `walk` meets them."""
        return (visit for visit in self.walk() if visit.is_leaf)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """All nodes, parents before their children, TRUE before FALSE; reversed, children come
        before their parents."""
        return tuple(top_down(self.nodes))

    def action_of(self, leaf: int) -> Action:
        """What a leaf holds, as plain numbers: one, or a tuple of them."""
        value = self.action[leaf].tolist()
        return tuple(value) if isinstance(value, list) else value

    def leaf_at(self, node: int) -> Leaf:
        """A leaf's action and gains, as `crisptree.crisp.nested.columns` takes them."""
        return Leaf(self.action_of(node), self.gains[node])

    def rules(self) -> tuple[Rule, ...]:
        """One rule a leaf, TRUE branches first, each feature's comparisons merged."""
        return tuple(
            Rule(tuple(leaf.conditions.values()), self.action_of(leaf.node), leaf.node, gains)
            for leaf in self.leaves()
            for gains in (self.gains[leaf.node],)
        )

    def simplify(self) -> "CrispTree":
        """The same action for every observation, without needless nodes."""
        return simplify(self)

    def to_dict(self) -> dict[str, Any]:
        """The policy file's object."""
        arrays = {name: getattr(self, name) for name in policy_format.TREE_FIELDS}
        return {
            **policy_format.object_of(arrays, self.features, self.actions, self.gains),
            "env_id": self.env_id,
            "env_kwargs": plain_json("env_kwargs", self.env_kwargs),
            "feature_function": self.feature_function,
            "training": plain_json("training", self.training),
        }

    @classmethod
    def from_dict(cls, policy: object) -> "CrispTree":
        """The tree a policy file's object describes; an error names the field at fault."""
        return cls(**policy_format.arguments(policy))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the policy file: all of it, or nothing."""
        policy_file.write(path, self.to_dict())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "CrispTree":
        """The tree in a policy file; an error names the file and the field at fault."""
        return policy_file.load(path, cls.from_dict)
