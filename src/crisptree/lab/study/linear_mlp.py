"""An MLP without activations, plain enough to be computed by hand: the paper's third policy (§7).

Layer by layer h ← W h + b; the action is that of the highest last unit, the first of equals. With
`binarised`, every weight is −1, 0 or +1, so that a person only adds and subtracts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, Literal

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray
from pydantic import BaseModel, StrictFloat

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import checks, policy_file
from crisptree.crisp.metadata import plain_json
from crisptree.crisp.route import as_numbers
from crisptree.crisp.signature import Actions
from crisptree.lab.study.validation import validated

FORMAT = "crisptree.mlp"
VERSION = 1
MOST_UNITS = 64
SHOWN_DECIMALS = 2

States = Float[np.ndarray, "states features"]
Layer = tuple[NDArray[np.float64], NDArray[np.float64]]


class LayerEntry(BaseModel, extra="forbid"):
    weights: list[list[StrictFloat]]
    biases: list[StrictFloat]


class MLPFile(BaseModel, extra="forbid"):
    """The content of an MLP file."""

    format: Literal["crisptree.mlp"]
    version: Literal[1]
    layers: list[LayerEntry]
    feature_names: tuple[str, ...]
    action_names: tuple[str, ...]
    env_id: str | None
    training: dict[str, Any]


@dataclass(frozen=True, eq=False)
class LinearMLP:
    """A policy as affine maps over raw observations; what it does not understand it refuses."""

    layers: tuple[Any, ...]
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
    def actions(self) -> Actions:
        return Actions.discrete(self.action_names)

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

    def act(self, observations: object) -> NDArray[np.int64]:
        """The actions for rows `(B, F)`, counted from 0."""
        return self.predict(observations)[0]

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
        """The network an MLP file's object describes; an error names the field at fault."""
        file = validated(MLPFile, content)
        return cls(
            layers=tuple((layer.weights, layer.biases) for layer in file.layers),
            feature_names=file.feature_names,
            action_names=file.action_names,
            env_id=file.env_id,
            training=file.training,
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the file: all of it, or nothing."""
        policy_file.write(path, self.to_dict())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "LinearMLP":
        """The network in a file; an error names the file and the field at fault."""
        return policy_file.load(path, cls.from_dict)


def _checked_layers(layers: tuple[Any, ...], n_features: int, n_actions: int) -> tuple[Layer, ...]:
    if not layers:
        raise CrisptreeError("layers is empty; a network has at least one layer")
    found, n_in = [], n_features
    for at, (weights, biases) in enumerate(layers):
        weights = _numbers(f"layers[{at}].weights", weights)
        biases = _numbers(f"layers[{at}].biases", biases)
        n_out = n_actions if at == len(layers) - 1 else biases.size
        if not 1 <= n_out <= MOST_UNITS:
            raise CrisptreeError(f"layers[{at}] has {n_out} units; 1 … {MOST_UNITS} can be drawn")
        if weights.shape != (n_out, n_in) or biases.shape != (n_out,):
            raise CrisptreeError(
                f"layers[{at}] has weights of shape {weights.shape} and biases of shape "
                f"{biases.shape}; they must be ({n_out}, {n_in}) and ({n_out},)"
            )
        found.append((weights, biases))
        n_in = n_out
    return tuple(found)


def _numbers(field: str, values: object) -> NDArray[np.float64]:
    """A read-only copy without minus zeros."""
    try:
        own = np.array(values, dtype=np.float64) + 0.0
    except (ValueError, TypeError):
        raise CrisptreeError(f"{field} must be a table of numbers") from None
    if not np.isfinite(own).all():
        raise CrisptreeError(f"{field} must hold finite numbers only")
    own.setflags(write=False)
    return own


def minus(text: str) -> str:
    """`text` with a typeset minus sign, as in the drawings."""
    return text.replace("-", "−")
