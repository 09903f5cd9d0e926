"""An MLP without activations as a worksheet: a box a unit, its sum written down line by line.

Boxes of a layer stand side by side, at most two in a row, so that the sheet fits a telephone;
layers stand below each other. In print, the lines leave room to write the numbers in.
"""

from crisptree.base.text import printable
from crisptree.lab.study.mlp import SHOWN_DECIMALS, LinearMLP
from crisptree.show.palette import NEUTRAL, style_of
from crisptree.show.svg_canvas import SIZE, Canvas, Rectangle, TextLine, text_width
from crisptree.show.wording import shortened

LONGEST_NAME = 28
PADDING = 10.0
LINE = 1.7 * SIZE
GAP = 12.0
BETWEEN_LAYERS = 30.0
MOST_IN_A_ROW = 2
ROOM_TO_WRITE = 40.0
BLANK = "____"
CORNER = 6.0


def as_worksheet(mlp: LinearMLP) -> str:
    """The sheet as the text of an SVG file."""
    sheet = Sheet(mlp)
    canvas = Canvas()
    top = 0.0
    for layer, units in enumerate(sheet.sums):
        canvas.label(0.0, top, sheet.heading(layer), "start")
        top += LINE
        for first in range(0, len(units), MOST_IN_A_ROW):
            row = units[first : first + MOST_IN_A_ROW]
            for at, lines in enumerate(row):
                left = at * (sheet.width + GAP)
                _draw(canvas, sheet, left, top, layer, first + at, lines)
            top += (max(map(len, row)) + 2) * LINE + PADDING + GAP
        top += BETWEEN_LAYERS - GAP
    canvas.label(0.0, top - BETWEEN_LAYERS / 2, sheet.conclusion, "start")
    return canvas.to_svg(f"{printable(mlp.env_id or 'Policy')}: network without activations")


def as_words(mlp: LinearMLP) -> str:
    """The same as plain text, one line a unit."""
    sheet = Sheet(mlp)
    lines = []
    for layer, units in enumerate(sheet.sums):
        lines.append(sheet.heading(layer))
        for unit, terms in enumerate(units):
            lines.append(f"{sheet.names[layer][unit]} = {' '.join(terms)}")
    return "\n".join([*lines, sheet.conclusion]) + "\n"


class Sheet:
    """What stands on the worksheet and how wide its boxes are."""

    conclusion = "The policy takes the action with the highest score."

    def __init__(self, mlp: LinearMLP) -> None:
        shown = mlp.as_shown()
        before = [shortened(printable(name), LONGEST_NAME) for name in mlp.feature_names]
        self.names: list[list[str]] = []
        self.sums: list[list[list[str]]] = []
        for layer, (weights, biases) in enumerate(shown.layers):
            last = layer == len(shown.layers) - 1
            names = (
                [
                    f"score of {shortened(printable(name), LONGEST_NAME)}"
                    for name in mlp.action_names
                ]
                if last
                else [f"sum {'abcdefgh'[layer % 8]}{unit + 1}" for unit in range(len(biases))]
            )
            self.names.append(names)
            self.sums.append(
                [
                    terms(row, bias, before)
                    for row, bias in zip(weights.tolist(), biases.tolist(), strict=True)
                ]
            )
            before = names
        texts = [line for units in self.sums for lines in units for line in lines]
        widest = max(text_width(line, SIZE) for line in texts) + ROOM_TO_WRITE
        titles = max(text_width(name, SIZE, bold=True) for names in self.names for name in names)
        self.width = max(widest, titles) + 2 * PADDING

    def heading(self, layer: int) -> str:
        if layer == len(self.sums) - 1:
            return "Work out each score:" if layer == 0 else "Then work out each score:"
        return "First work out these sums:" if layer == 0 else "Then these:"


def sum_name(layer: int, unit: int) -> str:
    """What a hidden unit is called: sum a1, a2, … in the first layer, b1, … in the next."""
    return f"sum {'abcdefgh'[layer % 8]}{unit + 1}"


def terms(weights: list[float], bias: float, names: list[str]) -> list[str]:
    """The lines of one sum: `+ pole angle`, `− 0.25 × cart position`, and the bias last."""
    lines = []
    for weight, name in zip(weights, names, strict=True):
        if weight:
            size = "" if abs(weight) == 1 else f"{abs(weight):.{SHOWN_DECIMALS}f} × "
            lines.append(f"{'+' if weight > 0 else '−'} {size}{name}")
    if bias or not lines:
        lines.append(f"{'−' if bias < 0 else '+'} {abs(bias):.{SHOWN_DECIMALS}f}")
    return lines


def _draw(
    canvas: Canvas, sheet: Sheet, left: float, top: float, layer: int, unit: int, lines: list[str]
) -> None:
    is_action = layer == len(sheet.sums) - 1
    name = sheet.names[layer][unit]
    right = left + sheet.width - PADDING
    canvas.box(
        Rectangle(left, top, sheet.width, LINE),
        style_of(unit) if is_action else NEUTRAL,
        [TextLine(left + PADDING, top + LINE / 2, name, "start", bold=True)],
        radius=CORNER,
        tooltip=name,
    )
    texts = []
    for at, line in enumerate([*lines, "="]):
        y = top + (at + 1.5) * LINE + PADDING / 2
        texts += [TextLine(left + PADDING, y, line, "start"), TextLine(right, y, BLANK, "end")]
    canvas.box(
        Rectangle(left, top + LINE, sheet.width, (len(lines) + 1) * LINE + PADDING),
        NEUTRAL,
        texts,
        radius=CORNER,
        tooltip=" ".join(lines),
    )
