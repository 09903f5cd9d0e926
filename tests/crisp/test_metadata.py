import numpy as np
import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.crisp.metadata import plain_json


def test_numpy_values_and_tuples_become_plain():
    given = {"scores": (np.float32(0.5), np.int64(3)), "array": np.arange(2), "ok": np.bool_(True)}
    plain = plain_json("training", given)
    assert plain == {"scores": [0.5, 3], "array": [0, 1], "ok": True}
    assert type(plain["scores"][0]) is float
    assert type(plain["ok"]) is bool


def test_it_is_a_copy():
    given = {"scores": [1]}
    plain = plain_json("training", given)
    given["scores"].append(2)
    assert plain == {"scores": [1]}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": {"b": [0, np.inf]}}, r"training\.a\.b\[1\] is inf"),
        ({"a": {1: 2}}, r"a key of training\.a must be text; it is int"),
        ({"a\n\x1b": [np.nan]}, r"training\.a\\n\\x1b\[0\] is nan"),
        ({"a": object()}, r"training\.a is object"),
        ({"a": b"bytes"}, r"training\.a is bytes"),
        ({"a": 1 << 2000}, r"training\.a is a number of more than 1024 bits"),
        ({"a": "\udc80"}, r"training\.a holds half a surrogate"),
    ],
)
def test_what_json_cannot_say_is_named(value, message):
    with pytest.raises(CrisptreeError, match=message):
        plain_json("training", value)


def test_what_contains_itself_is_refused():
    loop: list = []
    loop.append(loop)
    with pytest.raises(CrisptreeError, match="nested more than 32 deep"):
        plain_json("training", loop)
