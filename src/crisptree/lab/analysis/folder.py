"""The folder an analysis is written to: what goes there, and what may be overwritten."""

import csv
import importlib.util
import io
import json
from pathlib import Path
from typing import Any

from crisptree.base.errors import CrisptreeError
from crisptree.base.files import write_atomically
from crisptree.lab.analysis.analyse import Analysis
from crisptree.lab.analysis.report import FORMAT

FIGURES = ("updates", "policy-value", "optimality", "wrong-action", "learning")
NAMES = (
    "analysis.json",
    "curves.csv",
    *(f"{figure}.{kind}" for figure in FIGURES for kind in ("svg", "png")),
)


def prepare_folder(folder: Path) -> None:
    """Make the folder, and complain before the work rather than after: no matplotlib, or files of
    something else. Names of ours may be overwritten only beside an `analysis.json` that is one.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise CrisptreeError(
            "drawing needs matplotlib: pip install 'crisptree[plot]', or leave out --out"
        )
    if folder.exists() and not folder.is_dir():
        raise CrisptreeError(f"{folder} is a file; --out takes a folder")
    taken = [name for name in NAMES if (folder / name).exists()]
    if taken and not _is_analysis(folder / "analysis.json"):
        raise CrisptreeError(
            f"{folder} holds {taken[0]}, which no analysis wrote; choose another folder for --out"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CrisptreeError(f"cannot make the folder {folder}: {error.strerror}") from None


def _is_analysis(path: Path) -> bool:
    try:
        return json.loads(path.read_text("utf-8"))["format"] == FORMAT
    except (OSError, ValueError, KeyError, TypeError):
        return False


def write_folder(analysis: Analysis, report: dict[str, Any], folder: Path) -> list[Path]:
    """Write everything into a prepared folder. The JSON goes first: it marks the folder as ours."""
    from crisptree.lab.analysis.figures import draw

    files = {
        "analysis.json": (json.dumps(report, indent=1) + "\n").encode(),
        "curves.csv": curves_csv(analysis).encode(),
    }
    for name, content in files.items():
        write_atomically(folder / name, content)
    for name, content in draw(analysis):
        write_atomically(folder / name, content)
    return [folder / name for name in NAMES]


def curves_csv(analysis: Analysis) -> str:
    """Every curve over the range shown, a row for each φ."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["method", "terminal", "start", "phi", "update", "optimality", "value"])
    for curve in analysis.curves:
        terminal = "" if curve.terminal is None else curve.terminal.name
        columns = (curve.phi[curve.shown], curve.total[curve.shown], curve.optimality)
        for row in zip(*columns, curve.value[curve.shown], strict=True):
            writer.writerow([curve.method, terminal, curve.start, *(f"{x:.9g}" for x in row)])
    return out.getvalue()
