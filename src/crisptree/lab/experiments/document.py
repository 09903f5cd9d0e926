"""The report as Markdown, and as one HTML page that needs nothing else."""

import html

from crisptree.lab.experiments.domains import domain_of
from crisptree.lab.experiments.report import COMMANDS, FIGURES, HOW_TO_READ, WHICH, Report, Section
from crisptree.lab.experiments.table import Cells, as_markdown

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
th:first-child, td:first-child, .commands td, .commands th { text-align: left; }
td.long { white-space: normal; min-width: 10rem; }
th { border-bottom: 2px solid #888; }
.wide { overflow-x: auto; }
figure { margin: 1.5rem 0; }
figure svg { max-width: 100%; height: auto; }
figcaption { color: #555; }
code { background: #f4f4f4; padding: .1rem .3rem; overflow-wrap: anywhere; }
"""


def as_markdown_page(report: Report) -> str:
    parts = [f"# {report.title}", f"`{report.command}`", as_markdown(report.main), *HOW_TO_READ]
    if report.overall is not None:
        parts += ["## All domains together", as_markdown(report.overall)]
    for section in report.sections:
        parts += _markdown_section(section)
    return "\n\n".join(parts) + "\n"


def _markdown_section(section: Section) -> list[str]:
    parts = [f"## {domain_of(section.env).title}"]
    parts += [f"`{section.env}`" + (f": {section.note}." if section.note else "")]
    parts += [as_markdown(section.details)]
    if len(section.improvement) > 1:
        parts += ["How likely a run of one does better than a run of another:"]
        parts += [as_markdown(section.improvement)]
    parts += [section.verdict] if section.verdict else []
    if len(section.commands) > 1:
        head, *rows = section.commands
        parts += [COMMANDS, as_markdown([head, *([title, f"`{c}`"] for title, c in rows)])]
    for what, caption in FIGURES.items():
        for name in section.pictures:
            if name.endswith(f"-{what}.svg"):
                parts.append(f"![{caption}](figures/{name})")
                parts.append(f"*{caption}*")
    for policy in section.policies:
        parts.append(f"### The best readable {policy.shape}")
        parts.append(f"{policy.caption}: [policy](policies/{policy.name}.json)")
        parts += [f"![{which}](policies/{policy.name}-{which}.svg)" for which in policy.pictures()]
    return parts


def as_html(report: Report) -> str:
    parts = [f"<h1>{_safe(report.title)}</h1>", f"<p><code>{_safe(report.command)}</code></p>"]
    parts += [_table(report.main)]
    parts += [f"<p>{_safe(text)}</p>" for text in HOW_TO_READ]
    if report.overall is not None:
        parts += ["<h2>All domains together</h2>", _table(report.overall)]
    for section in report.sections:
        parts += _html_section(section)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_safe(report.title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body>\n</html>\n"
    )


def _html_section(section: Section) -> list[str]:
    note = f": {_safe(section.note)}." if section.note else ""
    parts = [f"<h2>{_safe(domain_of(section.env).title)}</h2>"]
    parts += [f"<p><code>{_safe(section.env)}</code>{note}</p>", _table(section.details)]
    if len(section.improvement) > 1:
        parts += ["<p>How likely a run of one does better than a run of another:</p>"]
        parts += [_table(section.improvement)]
    parts += [f"<p>{_safe(section.verdict)}</p>"] if section.verdict else []
    if len(section.commands) > 1:
        parts += [f"<p>{COMMANDS}</p>", _commands(section.commands)]
    for what, caption in FIGURES.items():
        for name, content in section.pictures.items():
            if name.endswith(f"-{what}.svg"):
                parts.append(_figure(content.decode(), caption, f"{section.env}{what}"))
    for policy in section.policies:
        parts.append(f"<h3>The best readable {policy.shape}</h3>")
        for which, svg in policy.pictures().items():
            score = f": {policy.caption}" if which == "simplified" else ""
            parts.append(_figure(svg, f"{WHICH[which]}{score}", f"{policy.name}{which}"))
    return parts


def _figure(svg: str, caption: str, unique: str) -> str:
    """The drawing in the page itself; its ids made its own, since a page has them only once."""
    drawing = svg[svg.index("<svg") :]
    mark = "".join(c for c in unique if c.isalnum())
    for before, after in (('id="', f'id="{mark}'), ('href="#', f'href="#{mark}')):
        drawing = drawing.replace(before, after)
    drawing = drawing.replace("url(#", f"url(#{mark}")
    return f"<figure>{drawing}<figcaption>{_safe(caption)}</figcaption></figure>"


def _table(table: Cells) -> str:
    head, *rows = table
    lines = ["<tr>" + "".join(f"<th>{_safe(cell)}</th>" for cell in head) + "</tr>"]
    lines += ["<tr>" + "".join(_cell(text) for text in row) + "</tr>" for row in rows]
    return '<div class="wide"><table>' + "\n".join(lines) + "</table></div>"


def _cell(text: str) -> str:
    return f"<td{' class=long' if len(text) > LONG else ''}>{_safe(text)}</td>"


def _commands(table: Cells) -> str:
    (_, head), *rows = table
    lines = [f"<tr><th></th><th>{_safe(head)}</th></tr>"]
    lines += [f"<tr><td>{_safe(t)}</td><td><code>{_safe(c)}</code></td></tr>" for t, c in rows]
    return '<div class="wide"><table class="commands">' + "\n".join(lines) + "</table></div>"


def _safe(text: str) -> str:
    return html.escape(text)
