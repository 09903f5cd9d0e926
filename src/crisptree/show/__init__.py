"""Ways to read a crisp tree, one a file. NumPy and the standard library only."""

from crisptree.show.dot import as_dot as as_dot
from crisptree.show.markdown import as_markdown as as_markdown
from crisptree.show.mermaid import as_mermaid as as_mermaid
from crisptree.show.rules import as_rules as as_rules
from crisptree.show.svg import as_svg as as_svg
from crisptree.show.text import as_text as as_text

WAYS = {
    "text": as_text,
    "rules": as_rules,
    "svg": as_svg,
    "dot": as_dot,
    "mermaid": as_mermaid,
    "markdown": as_markdown,
}
"""Every way by the name the command line gives it."""
