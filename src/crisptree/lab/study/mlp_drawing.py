"""An MLP without activations as people see it: a worksheet, a box for each unit with its sum.

Boxes of a layer stand side by side, at most two in a row, so that the sheet fits a telephone;
layers stand below each other. In print, the lines leave room to write the numbers in.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int

from crisptree.base.text import printable
from crisptree.lab.study.linear_mlp import SHOWN_DECIMALS, LinearMLP, States, minus
from crisptree.show.palette import NEUTRAL, style_of
from crisptree.show.svg_canvas import SIZE, Canvas, Rectangle, TextLine, text_width
from crisptree.show.wording import shortened

CLEAR_MARGIN = 2
"""The highest score must lead by this many units of the last digit shown."""
HOW_TO_READ = (
    "Each box is a sum. A number of the state marked + is added, one marked − is subtracted; "
    "subtracting a negative number adds it. Work out every sum. The policy takes the action with "
    "the highest score."
)
CONCLUSION = "The policy takes the action with the highest score."
LONGEST_NAME = 28
PADDING = 10.0
LINE = 1.7 * SIZE
GAP = 12.0
BETWEEN_LAYERS = 30.0
MOST_IN_A_ROW = 2
ROOM_TO_WRITE = 40.0
BLANK = "____"
CORNER = 6.0

Box = tuple[str, list[str]]
"""A unit's name, and its sum line by line."""


@dataclass(frozen=True)
class MLPDrawing:
    """A network without activations, drawn as a worksheet."""

    policy: LinearMLP
    kind: Literal["mlp"] = "mlp"

    @cached_property
    def shown(self) -> LinearMLP:
        """The network with the numbers that stand in the drawing."""
        return self.policy.as_shown()

    def places(self, states: States) -> Int[np.ndarray, " states"]:
        return self.actions(states)

    def actions(self, states: States) -> Int[np.ndarray, " states"]:
        return self.shown.act(states)

    def is_clear(
        self, states: States, units: Float[np.ndarray, " features"]
    ) -> Bool[np.ndarray, " states"]:
        scores = np.sort(self.shown.units(states)[-1], axis=-1)
        if scores.shape[1] < 2:
            return np.ones(len(states), dtype=bool)
        return scores[:, -1] - scores[:, -2] > (CLEAR_MARGIN - 0.01) * units.max()

    def shown_state(self, state: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(minus, state))

    def worked(self, state: tuple[str, ...]) -> tuple[str, ...]:
        layers = self.shown.units(np.array([float(text) for text in state]))
        decimals = max(len(text.partition(".")[2]) for text in state)
        inputs, lines = list(map(minus, state)), []
        for layer, units in enumerate(layers):
            results = [minus(f"{unit:.{decimals}f}") for unit in units.tolist()]
            numbers = [f"({text})" if text.startswith("−") else text for text in inputs]
            for (name, terms), result in zip(self._boxes(layer, numbers), results, strict=True):
                lines.append(f"{name[0].upper()}{name[1:]}: {' '.join(terms)} = {result}.")
            inputs = results
        action = printable(self.policy.action_names[int(np.argmax(layers[-1]))])
        return (*lines, f"The highest score is that of {action}, so the policy takes: {action}.")

    def how_to_read(self) -> str:
        return HOW_TO_READ

    def text(self) -> str:
        lines = []
        for layer, boxes in enumerate(self._sheet):
            lines.append(self._heading(layer))
            lines += [f"{name} = {' '.join(terms)}" for name, terms in boxes]
        return "\n".join([*lines, CONCLUSION]) + "\n"

    def svg(self) -> str:
        canvas, top = Canvas(), 0.0
        every = [box for boxes in self._sheet for box in boxes]
        sums = max(text_width(line, SIZE) for _, terms in every for line in terms) + ROOM_TO_WRITE
        names = max(text_width(name, SIZE, bold=True) for name, _ in every)
        width = max(sums, names) + 2 * PADDING
        for layer, boxes in enumerate(self._sheet):
            canvas.label(0.0, top, self._heading(layer), "start")
            top += LINE
            for unit, box in enumerate(boxes):
                column = unit % MOST_IN_A_ROW
                action = unit if layer == len(self._sheet) - 1 else None
                _draw_box(canvas, Rectangle(column * (width + GAP), top, width, LINE), box, action)
                if column == MOST_IN_A_ROW - 1 or unit == len(boxes) - 1:
                    row = boxes[unit - column : unit + 1]
                    longest = max(len(terms) for _, terms in row)
                    top += (longest + 2) * LINE + PADDING + GAP
            top += BETWEEN_LAYERS - GAP
        canvas.label(0.0, top - BETWEEN_LAYERS / 2, CONCLUSION, "start")
        about = printable(self.policy.env_id or "Policy")
        return canvas.to_svg(f"{about}: network without activations")

    @cached_property
    def _sheet(self) -> list[list[Box]]:
        """The boxes of each layer."""
        inputs = [shortened(printable(name), LONGEST_NAME) for name in self.policy.feature_names]
        sheet = []
        for layer in range(len(self.shown.layers)):
            sheet.append(list(self._boxes(layer, inputs)))
            inputs = [name for name, _ in sheet[-1]]
        return sheet

    def _boxes(self, layer: int, inputs: list[str]) -> Iterator[Box]:
        """The boxes of a layer: hidden units are sum a1, a2, … in the first layer, b1, … in the
        next."""
        is_last = layer == len(self.shown.layers) - 1
        for unit, (row, bias) in enumerate(zip(*self.shown.layers[layer], strict=True)):
            name = f"sum {'abcdefgh'[layer % 8]}{unit + 1}"
            if is_last:
                action = printable(self.policy.action_names[unit])
                name = f"score of {shortened(action, LONGEST_NAME)}"
            yield name, sum_terms(row.tolist(), float(bias), inputs)

    def _heading(self, layer: int) -> str:
        if layer == len(self.shown.layers) - 1:
            return "Work out each score:" if layer == 0 else "Then work out each score:"
        return "First work out these sums:" if layer == 0 else "Then these:"


def sum_terms(weights: list[float], bias: float, names: list[str]) -> list[str]:
    """The lines of one sum: `+ pole angle`, `− 0.25 × cart position`, and the bias last."""
    lines = []
    for weight, name in zip(weights, names, strict=True):
        if weight:
            size = "" if abs(weight) == 1 else f"{abs(weight):.{SHOWN_DECIMALS}f} × "
            lines.append(f"{'+' if weight > 0 else '−'} {size}{name}")
    if bias or not lines:
        lines.append(f"{'−' if bias < 0 else '+'} {abs(bias):.{SHOWN_DECIMALS}f}")
    return lines


def _draw_box(canvas: Canvas, head: Rectangle, box: Box, action: int | None) -> None:
    """A unit's box below its head, which has the action's colour if the unit is a score."""
    name, terms = box
    left, top, width, _ = head
    title = TextLine(left + PADDING, top + LINE / 2, name, "start", bold=True)
    style = NEUTRAL if action is None else style_of(action)
    canvas.box(head, style, [title], radius=CORNER, tooltip=name)
    texts = []
    for at, line in enumerate([*terms, "="]):
        y = top + (at + 1.5) * LINE + PADDING / 2
        texts.append(TextLine(left + PADDING, y, line, "start"))
        texts.append(TextLine(left + width - PADDING, y, BLANK, "end"))
    body = Rectangle(left, top + LINE, width, (len(terms) + 1) * LINE + PADDING)
    canvas.box(body, NEUTRAL, texts, radius=CORNER, tooltip=" ".join(terms))
