"""The crisp tree: a policy as five parallel arrays, one row a node, root first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import checks, policy_file
from crisptree.crisp.metadata import plain_json
from crisptree.crisp.nested import columns, reader
from crisptree.crisp.route import Nodes, as_numbers, as_plain_list, leaf_of, leaves_of, path_of
from crisptree.crisp.rules import Rule, rules


@dataclass(frozen=True, eq=False, repr=False)
class CrispTree:
    """A deterministic decision-tree policy over raw observations.

    A node is TRUE when `x[feature] > threshold` (Eq. 3), compared in float64. The arrays are
    read-only copies; the constructor refuses whatever is not one binary tree rooted at node 0.
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
    """int32 `(nodes,)`: the action of a leaf, -1 at an inner node."""
    feature_names: tuple[str, ...]
    action_names: tuple[str, ...]
    env_id: str | None = None
    training: Mapping[str, Any] = field(default_factory=dict)
    """How the tree came about: free metadata, anything JSON can say."""

    def __post_init__(self) -> None:
        for name in ("feature", "if_true", "if_false", "action"):
            self._set(name, checks.whole_numbers(f"tree.{name}", getattr(self, name)))
        self._set("threshold", checks.finite_numbers("tree.threshold", self.threshold))
        self._set("feature_names", checks.names("feature_names", self.feature_names))
        self._set("action_names", checks.names("action_names", self.action_names))
        checks.structure(
            self.feature,
            self.threshold,
            self.if_true,
            self.if_false,
            self.action,
            self.n_features,
            self.n_actions,
        )
        if self.env_id is not None:
            checks.text("env_id", self.env_id)
        if not isinstance(self.training, Mapping):
            raise CrisptreeError(f"training must be an object; it is {self.training!r:.40}")
        self._set("training", plain_json("training", self.training))

    def __repr__(self) -> str:
        about = f"{self.n_leaves} leaves, depth {self.depth}, {self.n_features} features"
        return f"CrispTree({about}, {self.n_actions} actions, env_id={self.env_id!r})"

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        """Copies and pickles go through the constructor, so theirs are read-only too."""
        return type(self), tuple(getattr(self, each.name) for each in fields(self))

    @classmethod
    def leaf(
        cls,
        action: int,
        feature_names: Sequence[str],
        action_names: Sequence[str],
        env_id: str | None = None,
        training: Mapping[str, Any] | None = None,
    ) -> "CrispTree":
        """The tree that always takes one action."""
        return cls.from_nested(action, feature_names, action_names, env_id, training)

    @classmethod
    def from_nested(
        cls,
        nested: Any,
        feature_names: Sequence[str],
        action_names: Sequence[str],
        env_id: str | None = None,
        training: Mapping[str, Any] | None = None,
    ) -> "CrispTree":
        """A tree written by hand: an inner node is `(feature, threshold, if_true, if_false)`, a
        leaf its action; features and actions by name or by number.

        >>> features, actions = ("angle", "velocity"), ("left", "right")
        >>> tree = CrispTree.from_nested(("velocity", 0.24, "right", "left"), features, actions)
        """
        features, actions = tuple(feature_names), tuple(action_names)
        arrays = columns(nested, reader(features, actions))
        return cls(
            **arrays,
            feature_names=features,
            action_names=actions,
            env_id=env_id,
            training=training or {},
        )

    @property
    def n_nodes(self) -> int:
        """Inner nodes and leaves together."""
        return len(self.feature)

    @property
    def n_features(self) -> int:
        return len(self.feature_names)

    @property
    def n_actions(self) -> int:
        return len(self.action_names)

    @property
    def n_leaves(self) -> int:
        return (self.n_nodes + 1) // 2

    @cached_property
    def depth(self) -> int:
        """The most comparisons an observation can meet; 0 for a lone leaf."""
        deepest = 0
        waiting = [(0, 0)]
        while waiting:
            node, depth = waiting.pop()
            feature, _, if_true, if_false = self.nodes[node]
            if feature >= 0:
                waiting += [(if_true, depth + 1), (if_false, depth + 1)]
            deepest = max(deepest, depth)
        return deepest

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

        The signature is the one Stable-Baselines3's `evaluate_policy` calls; a crisp tree has no
        state and nothing to sample, so the last three change nothing.
        """
        return self._actions[self.apply(obs)], state

    def apply(self, obs: object) -> Any:
        """The leaf, as a node index, that one observation or each row of a batch reaches."""
        values = as_plain_list(obs, self.n_features)
        if values is not None:
            return np.int64(leaf_of(self.nodes, values))
        numbers = as_numbers(obs, self.n_features)
        if numbers.ndim == 1:
            return np.int64(leaf_of(self.nodes, numbers.astype(np.float64).tolist()))
        return leaves_of(self.nodes, numbers)

    @cached_property
    def nodes(self) -> Nodes:
        """`(feature, threshold, if_true, if_false)` of every node, as plain Python numbers."""
        columns = (self.feature, self.threshold, self.if_true, self.if_false)
        return list(zip(*(column.tolist() for column in columns), strict=True))

    @cached_property
    def _actions(self) -> NDArray[np.int64]:
        return self.action.astype(np.int64)

    def decision_path(self, obs: object) -> tuple[int, ...]:
        """The nodes one observation passes, from the root to its leaf."""
        numbers = as_numbers(obs, self.n_features)
        if numbers.ndim != 1:
            raise CrisptreeError(
                f"decision_path takes one observation of shape ({self.n_features},); "
                f"this one has {numbers.shape}"
            )
        return path_of(self.nodes, numbers.astype(np.float64).tolist())

    def rules(self) -> tuple[Rule, ...]:
        """One rule a leaf, TRUE branches first, each feature's comparisons merged."""
        return rules(self.nodes, self.action.tolist())

    def simplify(self) -> "CrispTree":
        """The same action for every observation, without needless nodes."""
        from crisptree.crisp.simplify import simplify  # it makes CrispTrees, so it imports this

        return simplify(self)

    def to_dict(self) -> dict[str, Any]:
        """The policy file's object."""
        return {
            "format": policy_file.FORMAT,
            "version": policy_file.VERSION,
            "tree": {name: getattr(self, name).tolist() for name in policy_file.TREE_FIELDS},
            "feature_names": list(self.feature_names),
            "action_names": list(self.action_names),
            "env_id": self.env_id,
            "training": plain_json("training", self.training),
        }

    @classmethod
    def from_dict(cls, policy: object) -> "CrispTree":
        """The tree a policy file's object describes; an error names the field at fault."""
        checked = policy_file.checked(policy)
        tree = checked["tree"]
        return cls(
            feature=np.array(tree["feature"], dtype=np.int64),
            threshold=np.array(tree["threshold"], dtype=np.float64),
            if_true=np.array(tree["if_true"], dtype=np.int64),
            if_false=np.array(tree["if_false"], dtype=np.int64),
            action=np.array(tree["action"], dtype=np.int64),
            feature_names=tuple(checked["feature_names"]),
            action_names=tuple(checked["action_names"]),
            env_id=checked["env_id"],
            training=checked["training"],
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the policy file: all of it, or nothing."""
        policy_file.write(path, self.to_dict())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "CrispTree":
        """The tree in a policy file; an error names the file and the field at fault."""
        policy = policy_file.read(path)
        try:
            return cls.from_dict(policy)
        except CrisptreeError as error:
            raise CrisptreeError(f"{path}: {error}") from None
