"""The page as PDF, printed by a browser without a window."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from crisptree.base.errors import CrisptreeError

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SECONDS = 120


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
