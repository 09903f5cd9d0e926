"""The page as PDF, printed by a browser without a window."""

import os
import shutil
import subprocess
import tempfile
from os import PathLike
from pathlib import Path

from crisptree.base.errors import CrisptreeError
from crisptree.base.text import printable

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SECONDS = 120


def check_suffix(out: str | PathLike[str]) -> None:
    """Refuses a file that is to be neither a page nor a PDF."""
    if not isinstance(out, (str, PathLike)):
        raise CrisptreeError(f"out is the path of a file, not {type(out).__name__}")
    if Path(out).suffix.lower() not in (".html", ".htm", ".pdf"):
        raise CrisptreeError(f"out is {printable(str(out))}; it must end in .html or .pdf")


def in_file(page: str, out: str | PathLike[str]) -> str | bytes:
    """What the file `out` is to hold: the page, or its PDF."""
    return as_pdf(page) if Path(out).suffix.lower() == ".pdf" else page


def as_pdf(page: str) -> bytes:
    """What Chromium or Chrome prints of the page."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise CrisptreeError(
            "the PDF needs Chromium or Chrome (Debian: chromium); --out report.html does not, and "
            "every browser prints that page"
        )
    with tempfile.TemporaryDirectory() as folder:
        source, printed = Path(folder, "report.html"), Path(folder, "report.pdf")
        source.write_text(page, encoding="utf-8")
        options = ["--headless", "--disable-gpu", "--no-pdf-header-footer"]
        options += ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        options += [f"--user-data-dir={folder}/profile", f"--print-to-pdf={printed}"]
        try:
            subprocess.run(
                [browser, *options, source.as_uri()], capture_output=True, timeout=SECONDS
            )
        except subprocess.TimeoutExpired:
            raise CrisptreeError(f"{browser} printed nothing in {SECONDS} s") from None
        if not printed.is_file():
            raise CrisptreeError(f"{browser} printed nothing; --out report.html does without it")
        return printed.read_bytes()
