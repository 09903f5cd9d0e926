import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest
from sample_trees import AWKWARD, EVERY_KIND, PENDULUM, SMALL, TREE

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.show.html import MOST_LEAVES, as_html


class Elements(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


@pytest.mark.parametrize("tree", EVERY_KIND.values(), ids=EVERY_KIND)
def test_nothing_is_fetched(tree):
    tags = Elements(as_html(tree)).tags
    assert not [each for _, each in tags if {"src", "href", "action", "data"} & set(each)]
    assert "url(" not in as_html(tree) and "@import" not in as_html(tree)


def test_only_the_pages_own_script_may_run():
    page = as_html(AWKWARD)
    scripts = re.findall(r"<script>(.*?)</script>", page, re.S)
    assert len(scripts) == 1
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'" in page


def test_names_are_text():
    tree = CrispTree.leaf(
        0, ("</script><img src=x>",), ("<b>{{script}}",), env_id="<script>alert(1)</script>{{data}}"
    )
    page = as_html(tree)
    assert "<script>alert" not in page and "<img" not in page and "<b>" not in page
    assert page.count("<script") == 2
    assert "<title>&lt;script&gt;alert(1)&lt;/script&gt;{{data}}</title>" in page


def test_the_same_tree_gives_the_same_page():
    assert as_html(TREE) == as_html(TREE)


def test_a_page_without_scripts_shows_the_text():
    assert "<noscript><pre>pole angular velocity &gt; 0.242\n├── yes:" in as_html(TREE)


def test_a_tree_too_large_for_a_page():
    nested = 0
    for at in range(MOST_LEAVES):
        nested = (0, float(at), 1, nested)
    with pytest.raises(CrisptreeError, match="at most 2,000 leaves; this one has 2,001"):
        as_html(CrispTree.from_nested(nested, ("a",), ("x", "y")))


def test_size_and_score_stand_in_the_header():
    page = as_html(PENDULUM)
    assert '<p id="score">return −158.2 ± 9.1 over 100 episodes</p>' in page
    assert '<p id="about">list of 1 rule and an otherwise</p>' in as_html(SMALL)


@pytest.mark.parametrize("threshold", [1e308, -1.7e308, 5e-324, 1e-300])
def test_extreme_thresholds(threshold):
    """1e308 once ended in a traceback."""
    tree = CrispTree.from_nested(("a", threshold, 0, 1), ("a",), ("x", "y"))
    assert "</html>" in as_html(tree)
