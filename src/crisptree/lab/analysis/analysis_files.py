"""The directory an analysis is written to: its files, and what may be overwritten."""

import csv
import importlib.util
import io
import json
from pathlib import Path
from typing import Any

from crisptree.base.errors import CrisptreeError
from crisptree.base.files import read_text, write_atomically
from crisptree.lab.analysis.chain_analysis import FORMAT, Analysis

FIGURES = ("updates", "policy-value", "optimality", "wrong-action", "learning")
NAMES = (
    "analysis.json",
    "curves.csv",
    *(f"{figure}.{kind}" for figure in FIGURES for kind in ("svg", "png")),
)


def prepare_directory(directory: Path) -> None:
    """Make the directory. Refuse before the work rather than after it: without matplotlib, or
    where our file names are taken and no `analysis.json` says that an analysis wrote them.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise CrisptreeError(
            "drawing needs matplotlib: pip install 'crisptree[plot]', or leave out --out"
        )
    if directory.exists() and not directory.is_dir():
        raise CrisptreeError(f"{directory} is a file; --out takes a directory")
    taken = [name for name in NAMES if (directory / name).exists()]
    if taken and not _is_analysis(directory / "analysis.json"):
        raise CrisptreeError(
            f"{directory} holds {taken[0]}, which no analysis wrote; "
            "choose another directory for --out"
        )
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CrisptreeError(f"cannot make the directory {directory}: {error.strerror}") from None


def _is_analysis(path: Path) -> bool:
    try:
        return json.loads(read_text(path))["format"] == FORMAT
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def write_directory(analysis: Analysis, report: dict[str, Any], directory: Path) -> list[Path]:
    """Write all files into a prepared directory; return their paths.

    The JSON goes first: it marks the directory as an analysis's own.
    """
    from crisptree.lab.analysis.analysis_figures import draw

    files = {
        "analysis.json": (json.dumps(report, indent=1) + "\n").encode(),
        "curves.csv": curves_csv(analysis).encode(),
    }
    for name, content in files.items():
        write_atomically(directory / name, content)
    for name, content in draw(analysis):
        write_atomically(directory / name, content)
    return [directory / name for name in NAMES]


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
