"""A document of headings, paragraphs, tables and pictures, as Markdown and as one HTML page that
needs nothing else."""

import html
from collections.abc import Sequence
from dataclasses import dataclass

LONG = 24
"""Letters from which a cell of a table may take several lines."""
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 80rem; margin: 2rem auto; padding: 0 1rem;
       color: #222; background: #fff; }
p, figcaption { max-width: 60rem; }
table { border-collapse: collapse; margin: 1rem 0; font-size: .85rem;
        font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .5rem; border-bottom: 1px solid #ddd; text-align: right; }
td { white-space: nowrap; }
th:first-child, td:first-child, .code td, .code th { text-align: left; }
td.long { white-space: normal; min-width: 10rem; }
th { border-bottom: 2px solid #888; }
.wide { overflow-x: auto; }
figure { margin: 1.5rem 0; }
figure svg { max-width: 100%; height: auto; }
figcaption { color: #555; }
code { background: #f4f4f4; padding: .1rem .3rem; overflow-wrap: anywhere; }
"""


@dataclass(frozen=True)
class Heading:
    text: str
    level: int = 2


@dataclass(frozen=True)
class Paragraph:
    text: str


@dataclass(frozen=True)
class Code:
    """A word or command that is written as it is, and what follows it on the line."""

    code: str
    text: str = ""


@dataclass(frozen=True)
class Table:
    rows: Sequence[Sequence[str]]
    """The head comes first."""
    last_is_code: bool = False


@dataclass(frozen=True)
class Picture:
    path: str
    """Its file, seen from the document."""
    svg: str
    caption: str


Block = Heading | Paragraph | Code | Table | Picture


def as_markdown(blocks: Sequence[Block]) -> str:
    return "\n\n".join(map(_markdown, blocks)) + "\n"


def _markdown(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {text}"
        case Paragraph(text):
            return text
        case Code(code, text):
            return f"`{code}`{text}"
        case Picture(path, _, caption):
            return f"![{caption}]({path})\n\n*{caption}*"
        case Table(rows, last_is_code):
            head, *rest = rows
            if last_is_code:
                rest = [[*row[:-1], f"`{row[-1]}`"] for row in rest]
            lines = [head, ["---"] * len(head), *rest]
            return "\n".join("| " + " | ".join(row) + " |" for row in lines)


def as_html(title: str, blocks: Sequence[Block]) -> str:
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(map(_html, blocks))
        + "\n</body>\n</html>\n"
    )


def _html(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"<h{level}>{html.escape(text)}</h{level}>"
        case Paragraph(text):
            return f"<p>{html.escape(text)}</p>"
        case Code(code, text):
            return f"<p><code>{html.escape(code)}</code>{html.escape(text)}</p>"
        case Picture(path, svg, caption):
            drawing = _with_own_ids(svg[svg.index("<svg") :], path)
            return f"<figure>{drawing}<figcaption>{html.escape(caption)}</figcaption></figure>"
        case Table(rows, last_is_code):
            lines = [
                "<tr>" + "".join(f"<th>{html.escape(cell)}</th>" for cell in rows[0]) + "</tr>"
            ]
            lines += [_html_row(row, last_is_code) for row in rows[1:]]
            kind = ' class="code"' if last_is_code else ""
            return f'<div class="wide"><table{kind}>' + "\n".join(lines) + "</table></div>"


def _html_row(row: Sequence[str], last_is_code: bool) -> str:
    cells = [html.escape(text) for text in row]
    if last_is_code:
        cells[-1] = f"<code>{cells[-1]}</code>"
    long = [" class=long" if len(text) > LONG and not last_is_code else "" for text in row]
    return "<tr>" + "".join(f"<td{a}>{b}</td>" for a, b in zip(long, cells, strict=True)) + "</tr>"


def _with_own_ids(drawing: str, unique: str) -> str:
    """The drawing with ids that no other drawing of the page has."""
    mark = "".join(c for c in unique if c.isalnum())
    for before in ('id="', 'href="#', "url(#"):
        drawing = drawing.replace(before, f"{before}{mark}")
    return drawing
