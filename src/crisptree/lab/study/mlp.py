"""An MLP without activations, plain enough to be computed by hand: the paper's third aid (§7).

Layer by layer h ← W h + b; the action is that of the highest last unit, the first of equals. With
`binarised`, every weight is −1, 0 or +1, so that a person only adds and subtracts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import checks, policy_file
from crisptree.crisp.metadata import plain_json
from crisptree.crisp.route import as_numbers

FORMAT = "crisptree.mlp"
VERSION = 1
FIELDS = ("format", "version", "layers", "feature_names", "action_names", "env_id", "training")
MOST_UNITS = 64
SHOWN_DECIMALS = 2

Layer = tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class LinearMLP:
    """A policy as affine maps over raw observations; what it does not understand it refuses."""

    layers: tuple[Layer, ...]
    """`(weights (out, in), biases (out,))` of each layer, the outputs last."""
    feature_names: tuple[str, ...]
    action_names: tuple[str, ...]
    env_id: str | None = None
    training: Mapping[str, Any] = field(default_factory=dict)
    """How it came about: free metadata, anything JSON can say."""

    def __post_init__(self) -> None:
        self._set("feature_names", checks.names("feature_names", self.feature_names))
        self._set("action_names", checks.names("action_names", self.action_names))
        if self.env_id is not None:
            checks.text("env_id", self.env_id)
        self._set("layers", _checked_layers(self.layers, self.n_features, self.n_actions))
        self._set("training", plain_json("training", self.training))

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @property
    def n_features(self) -> int:
        return len(self.feature_names)

    @property
    def n_actions(self) -> int:
        return len(self.action_names)

    @property
    def is_binarised(self) -> bool:
        return all(np.isin(weights, (-1.0, 0.0, 1.0)).all() for weights, _ in self.layers)

    def units(self, obs: NDArray) -> list[NDArray[np.float64]]:
        """The units of every layer for one observation `(F,)` or each row of a batch `(B, F)`."""
        found = []
        at = np.asarray(obs, dtype=np.float64)
        for weights, biases in self.layers:
            at = at @ weights.T + biases
            found.append(at)
        return found

    def predict(
        self,
        obs: object,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = True,
    ) -> tuple[Any, Any]:
        """`(action, state)` as `CrispTree.predict` gives them."""
        scores = self.units(as_numbers(obs, self.n_features))[-1]
        return np.argmax(scores, axis=-1), state

    def binarised(self, keep: int) -> "LinearMLP":
        """Each unit listens to its `keep` strongest inputs, with weights of +1 or −1 (one-hot for
        `keep=1`).

        A unit is first divided by the mean size of the weights it keeps, so its bias stays in
        proportion; biases are rounded to two decimals.
        """
        if keep < 1:
            raise CrisptreeError(f"keep is {keep}; a unit must listen to at least one input")
        layers = []
        for weights, biases in self.layers:
            strongest = np.argsort(-np.abs(weights), axis=1, kind="stable")[:, :keep]
            kept = np.take_along_axis(weights, strongest, axis=1)
            signs = np.zeros_like(weights)
            np.put_along_axis(signs, strongest, np.sign(kept), axis=1)
            size = np.abs(kept).mean(axis=1)
            scaled = np.divide(biases, size, out=np.zeros_like(biases), where=size > 0)
            layers.append((signs, np.round(scaled, SHOWN_DECIMALS)))
        return replace(self, layers=tuple(layers))

    def as_shown(self) -> "LinearMLP":
        """The network a reader of the worksheet computes: everything rounded to two decimals."""
        shown = tuple(
            (np.round(weights, SHOWN_DECIMALS), np.round(biases, SHOWN_DECIMALS))
            for weights, biases in self.layers
        )
        return replace(self, layers=shown)

    def to_dict(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "version": VERSION,
            "layers": [
                {"weights": weights.tolist(), "biases": biases.tolist()}
                for weights, biases in self.layers
            ],
            "feature_names": list(self.feature_names),
            "action_names": list(self.action_names),
            "env_id": self.env_id,
            "training": plain_json("training", self.training),
        }

    @classmethod
    def from_dict(cls, content: object) -> "LinearMLP":
        if not isinstance(content, Mapping) or content.get("format") != FORMAT:
            raise CrisptreeError(f"format must be {FORMAT!r}; this is no MLP file of crisptree")
        if content.get("version") != VERSION:
            raise CrisptreeError(
                f"version is {content.get('version')!r:.40}; this crisptree reads version {VERSION}"
            )
        if missing := [name for name in FIELDS if name not in content]:
            raise CrisptreeError(f"{missing[0]} is missing")
        if unknown := [name for name in content if name not in FIELDS]:
            raise CrisptreeError(f"{unknown[0]!r:.40} is no field of version {VERSION}")
        if not isinstance(content["training"], Mapping):
            raise CrisptreeError("training must be an object")
        if content["env_id"] is not None:
            checks.text("env_id", content["env_id"])
        return cls(
            layers=_layers(content["layers"]),
            feature_names=checks.names("feature_names", content["feature_names"]),
            action_names=checks.names("action_names", content["action_names"]),
            env_id=content["env_id"],
            training=content["training"],
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the file: all of it, or nothing."""
        policy_file.write(path, self.to_dict())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "LinearMLP":
        """The network in a file; an error names the file and the field at fault."""
        content = policy_file.read(path)
        try:
            return cls.from_dict(content)
        except CrisptreeError as error:
            raise CrisptreeError(f"{path}: {error}") from None


def _layers(layers: object) -> tuple[Layer, ...]:
    if not isinstance(layers, list):
        raise CrisptreeError(f"layers must be a list; it is {type(layers).__name__}")
    found = []
    for at, layer in enumerate(layers):
        if not isinstance(layer, Mapping) or set(layer) != {"weights", "biases"}:
            raise CrisptreeError(f"layers[{at}] must be an object with weights and biases")
        try:
            weights, biases = (
                np.array(layer[name], dtype=np.float64) for name in ("weights", "biases")
            )
        except (ValueError, TypeError):
            raise CrisptreeError(f"layers[{at}].weights must be a table of numbers") from None
        found.append((weights, biases))
    return tuple(found)


def _checked_layers(layers: tuple[Any, ...], n_features: int, n_actions: int) -> tuple[Layer, ...]:
    if not layers:
        raise CrisptreeError("layers is empty; a network has at least one layer")
    found = []
    n_in = n_features
    for at, (weights, biases) in enumerate(layers):
        weights, biases = np.asarray(weights), np.asarray(biases)
        last = at == len(layers) - 1
        n_out = n_actions if last else len(biases) if biases.ndim else 0
        if not 1 <= n_out <= MOST_UNITS:
            raise CrisptreeError(f"layers[{at}] has {n_out} units; 1 … {MOST_UNITS} can be drawn")
        if weights.shape != (n_out, n_in) or biases.shape != (n_out,):
            raise CrisptreeError(
                f"layers[{at}] has weights of shape {weights.shape} and biases of shape "
                f"{biases.shape}; they must be ({n_out}, {n_in}) and ({n_out},)"
            )
        for name, array in (("weights", weights), ("biases", biases)):
            if array.dtype.kind not in "iuf" or not np.isfinite(array).all():
                raise CrisptreeError(f"layers[{at}].{name} must hold finite numbers only")
        found.append((_frozen(weights), _frozen(biases)))
        n_in = n_out
    return tuple(found)


def _frozen(array: NDArray) -> NDArray[np.float64]:
    own = array.astype(np.float64) + 0.0
    own.setflags(write=False)
    return own
