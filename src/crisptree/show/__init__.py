"""Formats in which a crisp tree can be read. NumPy and the standard library only."""

from crisptree.show.graph_formats import as_dot as as_dot
from crisptree.show.graph_formats import as_mermaid as as_mermaid
from crisptree.show.html import as_html as as_html
from crisptree.show.pictures import as_pdf as as_pdf
from crisptree.show.pictures import as_png as as_png
from crisptree.show.svg import as_svg as as_svg
from crisptree.show.text_formats import as_markdown as as_markdown
from crisptree.show.text_formats import as_rules as as_rules
from crisptree.show.text_formats import as_text as as_text

FORMATS = {
    "text": as_text,
    "rules": as_rules,
    "svg": as_svg,
    "html": as_html,
    "dot": as_dot,
    "mermaid": as_mermaid,
    "markdown": as_markdown,
    "png": as_png,
    "pdf": as_pdf,
}
"""Every format by the name the command line gives it; png and pdf are bytes, the others text."""

SUFFIXES = {
    ".txt": "text",
    ".rules": "rules",
    ".svg": "svg",
    ".html": "html",
    ".htm": "html",
    ".dot": "dot",
    ".gv": "dot",
    ".mmd": "mermaid",
    ".md": "markdown",
    ".png": "png",
    ".pdf": "pdf",
}
"""The format that a file's name asks for."""
