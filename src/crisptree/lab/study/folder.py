"""The report as a folder."""

import json
from pathlib import Path

from crisptree.base.errors import CrisptreeError
from crisptree.base.files import write_atomically
from crisptree.lab.study.analysis import Analysis, to_json
from crisptree.lab.study.figure import draw
from crisptree.lab.study.report import as_markdown


def write_report(analysis: Analysis, title: str, folder: Path, answers: str | None = None) -> None:
    """report.md, report.json, the figure as SVG and PNG, and the answers where there are any."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CrisptreeError(f"cannot write to {folder}: {error.strerror or error}") from None
    files: dict[str, str | bytes] = {
        "report.md": as_markdown(analysis, title, "figure.svg"),
        "report.json": json.dumps(to_json(analysis), indent=1, allow_nan=False) + "\n",
    }
    if analysis.aids:
        files |= {"figure.svg": draw(analysis, "svg"), "figure.png": draw(analysis, "png")}
    if answers is not None:
        files["answers.csv"] = answers
    for name, content in files.items():
        write_atomically(folder / name, content)
