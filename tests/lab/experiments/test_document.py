from html.parser import HTMLParser

from crisptree.lab.experiments.document import (
    Code,
    Heading,
    Paragraph,
    Picture,
    Table,
    as_html,
    as_markdown,
)

SVG = '<?xml version="1.0"?>\n<svg><g id="a"/><use href="#a"/><rect fill="url(#a)"/></svg>'
BLOCKS = [
    Heading("Title <here>", 1),
    Paragraph("a < b"),
    Code("x | y", ": said"),
    Table([["", "a"], ["row", "1.0"]]),
    Table([["", "by"], ["row", "crisptree <x>"]], last_is_code=True),
    Picture("figures/one.svg", SVG, "first"),
    Picture("figures/two.svg", SVG, "second"),
]


def test_markdown():
    assert as_markdown(BLOCKS[:5]) == (
        "# Title <here>\n\na < b\n\n`x | y`: said\n\n|  | a |\n| --- | --- |\n| row | 1.0 |\n\n"
        "|  | by |\n| --- | --- |\n| row | `crisptree <x>` |\n"
    )
    assert "![first](figures/one.svg)\n\n*first*" in as_markdown(BLOCKS)


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.ids += [value for name, value in attrs if name == "id" and value]
        self.links += [v for n, v in attrs if n in ("src", "href", "xlink:href") and v]


def test_html_is_escaped_and_needs_nothing_else():
    text, page = as_html("<t>", BLOCKS), Page()
    page.feed(text)
    assert "<title>&lt;t&gt;</title>" in text and "<h1>Title &lt;here&gt;</h1>" in text
    assert "<code>crisptree &lt;x&gt;</code>" in text and "<?xml" not in text
    assert len(page.ids) == len(set(page.ids)) == 2
    assert page.links == [f"#{name}" for name in page.ids]
    assert all(f"url(#{name})" in text for name in page.ids)
