"""A network without activations as an aid: a worksheet."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from crisptree.base.text import printable
from crisptree.lab.study.aid import Kind, States, minus
from crisptree.lab.study.mlp import LinearMLP
from crisptree.lab.study.worksheet import as_words, as_worksheet, sum_name, terms

CLEAR_MARGIN = 2
"""By how many units of the last digit shown the highest score must lead."""

HOW_TO_READ = (
    "Each box is a sum. A number of the state marked + is added, one marked − is subtracted; "
    "subtracting a negative number adds it. Work out every sum. The policy takes the action with "
    "the highest score."
)


@dataclass(frozen=True)
class MLPAid:
    """A network without activations, drawn as a worksheet."""

    mlp: LinearMLP

    @property
    def kind(self) -> Kind:
        return "mlp"

    @property
    def policy(self) -> LinearMLP:
        return self.mlp

    @cached_property
    def shown(self) -> LinearMLP:
        return self.mlp.as_shown()

    def places(self, states: States) -> Int[np.ndarray, " states"]:
        return self.actions(states)

    def actions(self, states: States) -> Int[np.ndarray, " states"]:
        return self.shown.predict(states)[0]

    def is_clear(
        self, states: States, units: Float[np.ndarray, " features"]
    ) -> Bool[np.ndarray, " states"]:
        scores = np.sort(self.shown.units(states)[-1], axis=-1)
        if scores.shape[1] < 2:
            return np.ones(len(states), dtype=bool)
        return scores[:, -1] - scores[:, -2] > (CLEAR_MARGIN - 0.01) * units.max()

    def worked(self, shown: tuple[str, ...]) -> tuple[str, ...]:
        layers = self.shown.units(np.array([float(text) for text in shown]))
        decimals = max(len(text.partition(".")[2]) for text in shown)
        names = [minus(text) if float(text) >= 0 else f"({minus(text)})" for text in shown]
        lines = []
        for layer, ((weights, biases), units) in enumerate(
            zip(self.shown.layers, layers, strict=True)
        ):
            last = layer == len(layers) - 1
            results = [minus(f"{unit:.{decimals}f}") for unit in units.tolist()]
            for unit, (row, bias) in enumerate(zip(weights, biases, strict=True)):
                title = (
                    f"Score of {printable(self.mlp.action_names[unit])}"
                    if last
                    else sum_name(layer, unit).capitalize()
                )
                sums = " ".join(terms(row.tolist(), float(bias), names))
                lines.append(f"{title}: {sums} = {results[unit]}.")
            names = [f"({text})" if text.startswith("−") else text for text in results]
        action = printable(self.mlp.action_names[int(np.argmax(layers[-1]))])
        return (*lines, f"The highest score is that of {action}, so the policy takes: {action}.")

    def how_to_read(self) -> str:
        return HOW_TO_READ

    def drawing(self) -> str:
        return as_worksheet(self.shown)

    def spoken(self) -> str:
        return as_words(self.shown)
