"""Pieces of HTML that the page is made of. Whatever comes from outside is escaped by `text`."""

from collections.abc import Iterable, Sequence
from html import escape

from crisptree.base.text import printable


def text(words: str) -> str:
    """Words for HTML; characters that are not seen or turn the others around are spelled out."""
    return escape(printable(words))


def section(number: int, title: str, *parts: str) -> str:
    body = "\n".join(part for part in parts if part)
    return f"<section><h2><span>{number}</span>{text(title)}</h2>\n{body}\n</section>"


def paragraph(words: str, kind: str = "") -> str:
    """A paragraph of plain text."""
    return f'<p class="{kind}">{text(words)}</p>' if kind else f"<p>{text(words)}</p>"


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """A list of labels and values; what looks like a command or a hash is set as code."""
    items = "".join(
        f"<dt>{text(label)}</dt><dd>{_fact(label, value)}</dd>" for label, value in rows
    )
    return f"<dl>{items}</dl>" if items else ""


def _fact(label: str, value: str) -> str:
    is_code = any(word in label for word in ("command", "hash", "SHA"))
    return f"<code>{text(value)}</code>" if is_code else text(value)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "") -> str:
    """A table of cells that are HTML already; a head that starts with `#` is of numbers."""
    numbers = [name.startswith("#") for name in head]
    tops = "".join(
        f"<th{' class=number' if is_number else ''}>{text(name.removeprefix('#'))}</th>"
        for name, is_number in zip(head, numbers, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{' class=number' if is_number else ''}>{cell}</td>"
            for cell, is_number in zip(row, numbers, strict=True)
        )
        + "</tr>\n"
        for row in rows
    )
    return (
        f'<div class="scroll"><table class="{kind}"><thead><tr>{tops}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def chip(words: str, kind: str) -> str:
    """A short verdict on a coloured ground."""
    return f'<span class="chip {kind}">{text(words)}</span>'


def tile(value: str, label: str, kind: str = "") -> str:
    return f'<div class="tile {kind}"><b>{text(value)}</b><span>{text(label)}</span></div>'


def figure(drawing: str, caption: str, kind: str = "") -> str:
    return (
        f'<figure class="{kind}"><div class="scroll">{drawing}</div>'
        f"<figcaption>{text(caption)}</figcaption></figure>"
    )
