"""Reading Markdown: blocks, their notes, their commands."""

from pages import blocks, commands

PAGE = """\
Words.

```sh
crisptree show a.json   # as text
crisptree train ENV \\
  --leaves 4
```

```text
pole > 1
```

<!-- test: skip, because it would take hours -->
```sh
crisptree sweep
```

<!-- file: a.py -->
```python
x = 1  # a '#' of Python
```
"""


def test_blocks(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    first, second, third, fourth = blocks(page)
    assert commands(first.code) == ["crisptree show a.json", "crisptree train ENV    --leaves 4"]
    assert (second.language, second.code, second.follows) == ("text", "pole > 1\n", True)
    assert third.skipped and third.line == 13
    assert fourth.file == "a.py" and fourth.code == "x = 1  # a '#' of Python\n"
    assert not first.follows and not first.skipped and first.file is None
