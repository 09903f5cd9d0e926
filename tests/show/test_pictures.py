import struct
import sys

import pytest
from sample_trees import EVERY_KIND, TREE, cart_pole

from crisptree.base.errors import CrisptreeError
from crisptree.show import as_pdf, as_png, as_svg

pytest.importorskip("cairosvg", exc_type=ImportError)


def size(png: bytes) -> tuple[int, int]:
    return struct.unpack(">II", png[16:24])


@pytest.mark.parametrize("tree", EVERY_KIND.values(), ids=EVERY_KIND)
def test_every_kind_of_tree(tree):
    assert as_png(tree).startswith(b"\x89PNG\r\n\x1a\n")
    assert as_pdf(tree).startswith(b"%PDF")


def test_a_png_has_two_pixels_for_each_unit():
    width = float(as_svg(TREE).split('width="')[1].split('"')[0])
    assert size(as_png(TREE))[0] == pytest.approx(2 * width, abs=1)


def test_a_large_png_is_made_smaller():
    nested: object = 0
    for at in range(900):
        nested = (0, float(at), at % 2, nested)
    width, height = size(as_png(cart_pole(nested)))
    assert width * height <= 61_000_000 and height <= 32_001


@pytest.mark.parametrize(
    ("error", "message"),
    [(ImportError(), r"pip install 'crisptree\[pictures\]'"), (OSError(), "Cairo library")],
)
def test_what_is_missing_is_said_in_one_line(monkeypatch, error, message):
    class Missing:
        def find_spec(self, name, path=None, target=None):
            if name == "cairosvg":
                raise error

    monkeypatch.delitem(sys.modules, "cairosvg", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Missing(), *sys.meta_path])
    with pytest.raises(CrisptreeError, match=message):
        as_png(TREE)
