import sys

import pytest
from verify_trees import STEADY

from crisptree.base.errors import CrisptreeError
from crisptree.verify import verify


def test_without_z3(monkeypatch):
    for module in ("crisptree.verify.search", "crisptree.verify.tree_questions"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, "z3", None)
    monkeypatch.delitem(sys.modules, "crisptree.verify.space", raising=False)
    with pytest.raises(CrisptreeError, match=r"pip install 'crisptree\[verify\]'"):
        verify(STEADY, "never push left")


def test_an_answer_as_json():
    answer = verify(STEADY, "sometimes push left when |all| <= 0.01").to_dict()
    assert answer["verdict"] == "holds"
    assert answer["property"] == "sometimes push left when |all| <= 0.01"
    assert all(abs(value) <= 0.01 for value in answer["observation"])
